package cpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
)

// Least shares of the service's CPU at which a use is reported: about twice those
// of balanced services of the corpus (crew-roster, letter-press, short-links:
// formatting 2 to 8 %). JSON's is just above theirs (3 to 15 %), because the order
// gateway's double encoding takes a fifth. Whether it is a defect depends on the
// gain of the remedy, see leastWorth. Compiling an expression belongs in no
// request, so a little of it suffices.
const (
	leastLogging = 0.10
	leastCompile = 0.05
	leastMatch   = 0.12
	leastFormat  = 0.15
)

// Logging finds services that spend their CPU on log lines.
//
// It has two signs, either of which suffices: CPU inside loggers, and requests that
// wait inside one. A logger serialises its writers with a mutex, so a slow sink
// stops all requests while CPUs are idle and the profile shows nothing
// (booking-trail).
var Logging = domain{
	name: "logging", roles: callstack.Logging | callstack.FileWrite, least: leastLogging, waits: callstack.LogWait,
	worth: from(avoidable), instead: notForLog,
	doc: "Counts CPU samples inside loggers, logging middleware and formatted writes to files, at 10 % or more of the service's " +
		"CPU, and waits inside loggers, at 20 % or more of request time.",
	title: fixed("Writing log lines"),
	cause: diagnose.Cause{
		ID: "cpu-logging", Title: "Logging uses too much CPU",
		Doc: "A large part of the CPU or of request time goes into formatting and writing log records, one write per line.",
		Knows: "CPU samples inside loggers, logging middleware (its own work, not the handler that it calls) and formatted " +
			"writes to a file (fmt.Fprintf to an *os.File is logging too), at 10 % or more of the service's CPU; or requests that " +
			"wait inside a logger (for its lock or its file) for at least 20 % of their time. A lock that is held while a hook " +
			"calls another service is lock-contention. JSON and formatting inside a logger count as logging. So do calls that a " +
			"request makes only for log arguments, by the sources that --build compiles, whether or not the level " +
			"drops the line. Unformatted writes to " +
			"a file are cpu-syscall. If opening files takes at least 9 % of the CPU, redline advises keeping " +
			"them open first.",
		Remedy: "Use a higher level, sampling, or an asynchronous, buffered writer.",
		Example: diagnose.Example{Lang: "go",
			Before: "for _, item := range order.Items {\n\tlog.Printf(\"item %d of order %d: %+v\", item.ID, order.ID, item)\n}",
			After:  "slog.Debug(\"order\", \"id\", order.ID, \"items\", len(order.Items)) // one record, below the level in production"},
		Verify: verify, Cases: []string{"booking-trail", "coupon-redeem", "waybill-labels"},
	},
	remedy: func(h usage.Hot) string {
		return fmt.Sprintf("At %s, log less (level, sampling), and write through a buffer that another "+
			"goroutine flushes instead of making one system call per line.", diagnose.At(h.Place))
	},
}.analyzer()

// RegexpCompile finds regular expressions compiled per request.
//
// Go's regexp compiles to an automaton and matches in linear time (Cox 2007), so
// compiling costs many matches. A twentieth of the CPU suffices, because the remedy
// is one line and costs nothing.
var RegexpCompile = domain{
	name: "regexp-compile", roles: callstack.RegexpCompile, least: leastCompile, worth: from(wasteWorth), keeps: true,
	doc:   "Counts CPU samples inside regexp.Compile and the like, at 5 % or more of the service's CPU.",
	title: fixed("Compiling regular expressions"),
	cause: diagnose.Cause{
		ID: "cpu-regexp-compile", Title: "Regular expressions are compiled in the request path",
		Doc: "An expression is parsed and compiled for every use, as regexp.MatchString does.",
		Knows: "CPU samples below regexp.Compile, MustCompile and regexp/syntax, at 5 % or more of the service's CPU, and the " +
			"collection of what they allocate. Compiling belongs outside requests, so all of it can be saved. The " +
			"function called distinguishes it from cpu-regexp-match; if both are found, the match uses the expression just " +
			"compiled.",
		Remedy: "Compile once, in a package variable.",
		Example: diagnose.Example{Lang: "go",
			Before: "func valid(code string) bool {\n\tok, _ := regexp.MatchString(`^[A-Z]{2}[0-9]+$`, code)\n\treturn ok\n}",
			After: "var shape = regexp.MustCompile(`^[A-Z]{2}[0-9]+$`)\n\nfunc valid(code string) bool { return " +
				"shape.MatchString(code) }"},
		Verify: verify, Cases: []string{"address-rules", "claims-archive"},
	},
	remedy: func(h usage.Hot) string {
		// casbin's RegexMatch compiles the policy's pattern for each rule that it tries: a variable
		// at the caller's line would not help.
		if h.Via != "" {
			return fmt.Sprintf("%s compiles its patterns on each call from %s: use a version that caches them, cache them "+
				"yourself (a map from pattern to *regexp.Regexp), or cache the call's result.",
				callstack.Short(h.Via), diagnose.At(h.Place))
		}
		return fmt.Sprintf("Compile the expression once (var re = regexp.MustCompile(...) outside the "+
			"function) instead of at %s.", diagnose.At(h.Place))
	},
}.analyzer()

// RegexpMatch finds services that spend their CPU on matching.
//
// Where RegexpCompile is found as well, it outranks this one: the matched
// expression is the one just compiled, and it is fixed first.
var RegexpMatch = domain{
	name: "regexp-match", roles: callstack.RegexpMatch, least: leastMatch, worth: from(avoidable), keeps: true,
	doc:   "Counts CPU samples inside matching of regular expressions, at 12 % or more of the service's CPU.",
	title: fixed("Matching regular expressions"),
	cause: diagnose.Cause{
		ID: "cpu-regexp-match", Title: "Matching regular expressions uses too much CPU",
		Doc: "A large part of the CPU is spent matching.",
		Knows: "CPU samples below methods of a compiled expression, at 12 % or more of the service's CPU; a defect if removing " +
			"it would gain 1.4x. Expressions that a router matches are cpu-router.",
		Remedy: "Use strings.Cut or a hand-written parser, or try a simpler expression first.",
		Example: diagnose.Example{Lang: "go",
			Before: "m := pair.FindStringSubmatch(line) // ^([^=]+)=(.*)$",
			After:  "key, value, ok := strings.Cut(line, \"=\")"},
		Verify: verify, Cases: []string{"agent-classifier"},
		CoveredBy: []string{"cpu-hot-function"}, // a search that does it for each element
	},
	remedy: func(h usage.Hot) string {
		// uap-go tries hundreds of patterns per user agent, and none of them is at the line of the call.
		if h.Via != "" {
			return fmt.Sprintf("%s matches the expressions on each call from %s: cache the call's result (in a bounded map keyed by "+
				"its input), call it less often, or use a version of it that does either.", callstack.Short(h.Via), diagnose.At(h.Place))
		}
		return fmt.Sprintf("Replace the expression at %s with string functions or a small parser; test a "+
			"cheap condition first.", diagnose.At(h.Place))
	},
}.analyzer()

// TemplateParse finds templates parsed per request.
//
// error-pages before v2.5.0 parses its page in each request; the finding once named
// the right function but advised strconv, as all template work counted as
// formatting. html/template escapes on the first execution of a parsed template, so
// that share counts as parsing too.
var TemplateParse = domain{
	name: "template-parse", roles: callstack.TemplateParse, least: leastCompile, worth: from(wasteWorth), keeps: true,
	doc:   "Counts CPU samples inside the parsing of templates, at 5 % or more of the service's CPU.",
	title: fixed("Parsing templates"),
	cause: diagnose.Cause{
		ID: "cpu-template-parse", Title: "Templates are parsed in the request path",
		Doc: "A template is read and parsed for every use instead of once.",
		Knows: "CPU samples below Parse, ParseFiles, ParseFS and ParseGlob of text/template and html/template, " +
			"their Clone, the escaping that html/template does on a template's first execution, and the parsers " +
			"of other engines; at least 5 % of the service's CPU, and the collection of what they allocate. " +
			"Parsing belongs outside requests, so all of it can be saved. Executing a template is cpu-format.",
		Remedy: "Parse once, at start-up, and only execute in requests.",
		Example: diagnose.Example{Lang: "go",
			Before: "func page(w http.ResponseWriter, r *http.Request) {\n" +
				"\tt := template.Must(template.ParseFiles(\"page.html\"))\n\tt.Execute(w, data(r))\n}",
			After: "var pageTemplate = template.Must(template.ParseFiles(\"page.html\"))\n\n" +
				"func page(w http.ResponseWriter, r *http.Request) { pageTemplate.Execute(w, data(r)) }"},
		Verify: verify, Cases: []string{"permit-notices", "permit-board"},
	},
	remedy: func(h usage.Hot) string {
		// swag parses the template of its document in each ReadDoc, which its caller cannot change.
		if h.Via != "" {
			return fmt.Sprintf("%s parses its template on each call from %s: cache the call's result for the same input, or use a "+
				"version that caches the template.", callstack.Short(h.Via), diagnose.At(h.Place))
		}
		if strings.Contains(h.Callee, "escape") { // sablier parses some lines before
			return fmt.Sprintf("Parse the template that is executed at %s once, at start-up or when its text changes: html/template "+
				"escapes it at its first execution, and each request has a first one. Turn functions that need the request's values into "+
				"fields of the data.", diagnose.At(h.Place))
		}
		return fmt.Sprintf("Parse the template once, at start-up or when its text changes, and only execute it in requests, "+
			"instead of calling %s at %s; turn functions that need the request's values into fields of the "+
			"data.", callee(h, "its parser"), diagnose.At(h.Place))
	},
}.analyzer()

// Format finds services that spend their CPU on building strings.
//
// Formatting is what pages and reports are for, hence 1.55x. net/http formats
// headers and dates by itself; those samples have no user function that could
// change them.
var Format = domain{
	name: "format", roles: callstack.Format, handed: true, least: leastFormat,
	worth: from(purposeful), instead: textLess, needless: needless,
	doc: "Counts CPU samples inside fmt, strconv, templates and string building, at 15 % or more of the service's CPU.",
	title: func(h usage.Hot) string {
		switch {
		case callsAny(h, "runtime.concatstring"):
			return "Joining strings with +"
		case callsAny(h, parsers...):
			return "Parsing text (" + h.Callee + ")"
		case callsAny(h, "strings.Split", "strings.genSplit", "strings.Fields"):
			return "Splitting text (" + h.Callee + ")"
		case strings.HasPrefix(h.Callee, "strings.") && !callsAny(h, "strings.(*Builder)", "strings.Join", "strings.Repeat"):
			return "Changing text (" + h.Callee + ")"
		case strings.HasPrefix(h.Callee, executes):
			return "Executing a template"
		}
		return "Formatting text"
	},
	cause: diagnose.Cause{
		ID: "cpu-format", Title: "Formatting uses too much CPU",
		Doc: "A large part of the CPU is spent in fmt, string building and conversions.",
		Knows: "CPU samples whose outermost library below the user's function is fmt, strconv, a template, time.Format, time.Parse or " +
			"string building, at 15 % or more of the service's CPU; a defect if removing it would gain 1.55x. What the server " +
			"itself formats (headers, dates) does not count; formatting inside loggers and encoders counts as those, and a " +
			"dependency's as the function called (cpu-hot-function). If it takes more than 200 ns of CPU for each byte that a " +
			"request sends or receives, the text is neither: redline then advises caching it first, and a gain of 1.4x makes it " +
			"a defect.",
		Remedy: "Use append and strconv.Append with a reused buffer.",
		Example: diagnose.Example{Lang: "go",
			Before: "key := fmt.Sprintf(\"order:%d:%s\", id, state)",
			After:  "key := strconv.AppendInt(append(buf[:0], \"order:\"...), id, 10)\nkey = append(append(key, ':'), state...)"},
		Verify: verify, Cases: []string{"payslip-lines", "crew-roster"},
		CoveredBy: []string{"cpu-hot-function", "alloc-hot"}, // a search that does it for each element, a text that + makes longer
	},
	remedy: func(h usage.Hot) string {
		// strconv cannot replace the execution of a template, although zoekt's
		// result page was once advised to do so.
		if strings.HasPrefix(h.Callee, executes) {
			return fmt.Sprintf("At %s, execute less of the template per request: cache parts that many responses share as "+
				"rendered text, and pass finished values instead of methods and nested fields; or generate the page's code "+
				"(quicktemplate, templ), which needs no reflection.", diagnose.At(h.Place))
		}
		switch {
		case callsAny(h, "strings.ToLower", "strings.ToUpper", "strings.ToTitle", "strings.Title", "strings.Map"):
			return fmt.Sprintf("At %s, store the changed text next to the original, or compare with strings.EqualFold: %s "+
				"copies it for every use.", diagnose.At(h.Place), h.Callee)
		case callsAny(h, "strings.Split", "strings.Fields"):
			return fmt.Sprintf("At %s, split once, outside the loop, or iterate with strings.SplitSeq or strings.Cut: %s "+
				"makes a slice for every use.", diagnose.At(h.Place), h.Callee)
		case callsAny(h, "runtime.concatstring"):
			return fmt.Sprintf("At %s, write the parts to one strings.Builder, or append them to a reused buffer: each + copies "+
				"everything joined before it.", diagnose.At(h.Place))
		}
		for _, use := range textUses {
			if callsAny(h, use.callees...) {
				return fmt.Sprintf(use.remedy, diagnose.At(h.Place), h.Callee)
			}
		}
		return fmt.Sprintf("At %s, append with strconv into a reused buffer instead of %s.", diagnose.At(h.Place), callee(h, "fmt"))
	},
}.analyzer()

// parsers read text, which no append replaces.
var parsers = []string{"strconv.Parse", "strconv.Atoi", "strconv.Unquote", "time.Parse", "fmt.Sscan", "fmt.Fscan", "fmt.Scan"}

// textUses are further uses of text with the remedy of each, which gets the place and what it calls.
var textUses = []struct {
	callees []string
	remedy  string
}{
	{parsers[4:], "At %s, cut the text (strings.Cut, strings.FieldsSeq) and parse its parts with strconv instead of calling %s, which interprets a format and reflects; or parse each text once and keep the value."},
	{parsers, "At %s, parse each text once and keep the value, and parse only what is needed, instead of calling %s for every use."},
	{[]string{"time.Time.", "time.Duration."}, "At %s, format each time once and keep the text (one per second, if that is exact enough), or append it to a reused buffer (Time.AppendFormat), instead of calling %s for every use."},
	{[]string{"strings.Replace", "strings.(*Replacer)"}, "At %s, replace once and keep the result instead of calling %s for every use; make the strings.Replacer once, in a package variable."},
	{[]string{"strings.Trim"}, "At %s, trim each text once, where it comes in, instead of calling %s for every use."},
	{[]string{"strings.Join", "strings.Repeat", "strings.(*Builder)"}, "At %s, append the parts to one reused buffer, or write them to the response piece by piece, instead of building a string by %s."},
}

// callsAny reports whether a place calls a function whose name begins with one of callees.
func callsAny(h usage.Hot, callees ...string) bool {
	return slices.ContainsFunc(callees, func(c string) bool { return strings.HasPrefix(h.Callee, c) })
}

// executes is how the names of the methods begin by which a service has a template executed.
const executes = "template.(*Template).Execute"

// textLess advises to make less text, where the record shows that it is avoidable.
func textLess(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, t taken) {
	formatLess(p, use, f, t)
	pairs(p, use, f, t)
}

// pairs advises to look up what a template searches for: a range within a range that takes most of its time runs for each pair of
// elements. gocast's template looks for the course of each of 1,000 streams among 200.
func pairs(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, t taken) {
	if !strings.HasPrefix(t.hot.Callee, executes) {
		return
	}
	all, nested := 0.0, 0.0
	for _, s := range use.Causing(callstack.Format, t.caller) {
		all += s.Value
		loops := 0
		for _, frame := range s.Stack[:s.User] {
			if strings.HasSuffix(frame.Function, "template.(*state).walkRange") {
				loops++
			}
		}
		if loops > 1 {
			nested += s.Value
		}
	}
	if !(nested >= mostly*all) || all == 0 {
		return
	}
	f.Remedy = fmt.Sprintf("If the inner range of the template at %s searches for what belongs to an element of the outer one, look it up "+
		"before (a map by key, or a join) and pass the result: a range within a range runs for each pair. Otherwise: %s",
		diagnose.At(t.hot.Place), f.Remedy)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, nested/all, diagnose.Ratio,
		"%s of the template's time is in a range within a range", diagnose.Percent(nested/all)))
}
