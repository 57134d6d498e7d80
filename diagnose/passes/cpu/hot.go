package cpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

const (
	// leastMadeOwn is the share of something made for requests whose removal gains leastWorth,
	// by Amdahl's law.
	leastMadeOwn = 1 - 1/leastWorth
)

// Hot finds the service's own hot functions.
//
// Needs a CPU profile. The rule leaves out whatever a more specific analyzer names:
// samples of libraries, of allocation, and functions that mostly use maps, copies,
// system calls or atomics. An algorithm remains, and no profile shows whether a
// better one exists. Hence the high bar for confidence (purposeful), and a gain
// that assumes all of it is removed.
var Hot = diagnose.Analyzer{
	Name:  "hot-function",
	Stage: diagnose.CPUUse,
	Doc: "Charges samples that belong to no library domain to the innermost function of the user's code, including runtime " +
		"functions called from it. Names a function that uses at least 25 % of the service's CPU, with the loop around it, at its " +
		"hottest line; or the function below which a recursion or a family of small functions uses 50 %; or something that a " +
		"dependency makes (parses, builds) below one function at 25 % or more, or compiles at 9 %, or that the service itself " +
		"makes for requests at 23 %. If the sources show a search through many elements that takes more, it comes first.",
	Causes: []diagnose.Cause{{
		ID: "cpu-hot-function", Title: "One of the service's own functions uses too much CPU",
		Doc: "A large part of the CPU is spent in one function of the service, not in a library: nested loops where a map " +
			"would do, text that is parsed again and again, or work whose result could be cached.",
		Knows: "- Counts CPU samples that belong to no library and to no allocation, at the innermost function of the service; code " +
			"that the compiler inlined belongs to the function around it, and a helper that one loop calls to the loop. One function " +
			"must have 25 % of the service's CPU.\n" +
			"- If none has, the one below which a recursion or a family of small functions uses half is named; then a dependency's " +
			"function that has half, where the service calls it most; then the deepest function of the service that has half with " +
			"all that it calls. The last two have low confidence.\n" +
			"- The gain assumes that all of it goes away, because a profile does not show what a better algorithm saves. Below 1.55x " +
			"(1.3x in the background, where it can run elsewhere) confidence is low.\n" +
			"- A function that mostly uses maps, copies, system calls or atomics is reported as that.\n" +
			"- If half of it is calls of a dependency, or of a standard package that does work for its caller, these are named, and " +
			"all that they do counts.\n" +
			"- A call that mostly compiles something counts as a whole from 9 %, because something compiled is used more than once. " +
			"Parsing or building something counts only if nothing else is reported, from 25 %, with low confidence: it may belong to " +
			"the request.\n" +
			"- A function of the service that makes or validates something, by its name, counts from 23 %, with what the collection " +
			"of its garbage takes.\n" +
			"- A loop over a range that decides by the source which element is wanted is named as a search, from 25 % and 200 " +
			"objects or 2 ms of CPU per request, with at most medium confidence: the source does not say whether an index is " +
			"possible.\n" +
			"- False sharing of plain variables looks like this too: the hot line is then a plain store.",
		Remedy: "Optimise the named lines, run them less often, or cache the result.",
		Example: diagnose.Example{Lang: "go",
			Before: "for _, v := range all {\n\tif !slices.Contains(kept, v) { kept = append(kept, v) } // n² comparisons\n}",
			After:  "for _, v := range all {\n\tif !seen[v] { seen[v] = true; kept = append(kept, v) }\n}"},
		Verify: verify, Cases: []string{"mailing-merge", "discount-formula", "waybill-labels", "crew-roster"},
		FollowsFrom: []string{"background-work", "grows-with-state", "cache-useless", "stops-the-world"}, SamePlace: true,
		CoveredBy: []string{"http-client-churn"}, // a function that mostly dials
	}},
	Needs: []diagnose.Need{diagnose.NeedCPUProfile},
	Run: func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		use, err := p.Use()
		if err != nil || !p.Sampled(use, "cpu-hot-function") {
			return nil, err
		}
		h, ok := use.Hottest(usage.LeastHot)
		var found []diagnose.Finding
		if s, is := scanned(p, use); is && s.share >= h.Share {
			return []diagnose.Finding{s.finding(p, use)}, nil
		}
		b, made, alone := costlyMade(p, h, ok)
		if made {
			found = append(found, madePerRequest(p, use, b))
		}
		if made && alone || !ok || h.Work != 0 {
			return found, nil // maps, copies, system calls and atomics have analyzers of their own
		}
		// chartmuseum's handler once seemed hot with 37 %, which was the kernel
		// sending the response. Hottest leaves sending out.
		name, worth := callstack.Short(h.Place.Function), purposeful
		// Half of it suffices: where requests and background share a function, the
		// finding is the same and only the threshold differs.
		if share, most := use.Background(); share >= 0.5*h.Share && most.Function == h.Place.Function {
			worth = leastWorth // it can run later, elsewhere, or in the time that requests leave
		}
		in := p.Callees(h.Place)
		share := min(1, max(h.Share, in.Share))
		f := diagnose.Finding{
			Cause: "cpu-hot-function", Share: share, ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(h.Place),
			Title: fmt.Sprintf("%s takes %s of the service's CPU, hottest at %s", name, diagnose.Percent(share), diagnose.At(h.Place)),
			Evidence: []findings.Evidence{diagnose.Fact(diagnose.FromProfile, h.Share, diagnose.Ratio,
				"%s of %s", diagnose.Percent(h.Share), samples(use))},
			Remedy: fmt.Sprintf("Optimise %s around line %d, call it less often, or cache its result.", name, h.Place.Line),
		}
		if h.Self < h.Share {
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, h.Self, diagnose.Ratio,
				"%s in the function and the libraries that it calls, the rest in other functions of the service", diagnose.Percent(h.Self)))
		}
		describe(p, &f, h, in)
		if name, part := use.Inside(h.Place); part >= leastInside {
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, part, diagnose.Ratio,
				"of the CPU spent at %s, %s itself takes %s", diagnose.At(h.Place), callstack.Short(name), diagnose.Percent(part)))
		}
		called(&f, use, h.Place.Function)
		f.Evidence = append(f.Evidence, saturation(p)...)
		diagnose.Promise(&f, p.Ran(evidence.Work{Share: share, Function: h.Place.Function}))
		// Not sure: samples of a family of small functions, attributed to the
		// function above them.
		if f.Confidence = confidence(p, f.GainCeiling, worth); !h.Sure {
			f.Confidence = findings.Low
		}
		return append(found, f), nil
	},
}

// leastInside is the part of a line's CPU that a library's function must take to be named.
const leastInside = 0.2

// readParts read a request's parts. Their result cannot be kept for another request.
var readParts = []string{"net/http.(*Request).FormFile", "net/http.(*Request).ParseMultipartForm", "mime/multipart.(*Reader).ReadForm"}

// iterates reports whether a function takes an iteration to its next element, such as pebble's (*mergingIter).nextEntry: it has no
// result to cache.
func iterates(function string) bool {
	name := strings.ToLower(function[strings.LastIndexByte(function, '.')+1:])
	return slices.ContainsFunc([]string{"next", "prev", "seek", "advance"}, func(step string) bool { return strings.HasPrefix(name, step) })
}

// calledBack reports whether a function is a literal that a function got from another one: an iteration calls it for each element, and
// it has no result to cache.
func calledBack(function, by string) bool {
	from := callstack.Enclosing(function)
	return from != function && from != callstack.Enclosing(by)
}

// describe names the library functions that take a call's CPU. The line itself cannot be
// optimised then, only do the named part less often.
func describe(p *diagnose.Pass, f *diagnose.Finding, h usage.Algorithm, c usage.Callees) {
	at := h.Place
	if len(c.Branches) == 0 {
		return
	}
	words := make([]string, len(c.Branches))
	for i, b := range c.Branches {
		words[i] = fmt.Sprintf("%s in %s", diagnose.Percent(b.Share), callstack.Short(b.Function))
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, c.Branches[0].Share, diagnose.Ratio,
		"of the CPU spent there, %s", strings.Join(words, ", ")))
	var names []string
	for _, f := range c.Functions {
		names = append(names, callstack.Short(f))
	}
	if c.Share > h.Share {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, c.Share, diagnose.Ratio,
			"calling %s takes %s, including what it decodes, formats or allocates", strings.Join(names, ", "), diagnose.Percent(c.Share)))
	}
	switch len(names) {
	case 0:
	case 1:
		f.Title += ", most of it in " + names[0]
		f.Remedy = fmt.Sprintf("At %s, cache the result of %s for each input (parse, compile or validate once), or call it "+
			"less often.", diagnose.At(at), names[0])
		if p.Stacks.User(code.Frame{Function: c.Functions[0]}) && calledBack(c.Functions[0], at.Function) {
			f.Remedy = fmt.Sprintf("At %s, visit fewer elements (look up those that are wanted, or stop early): %s is called for each.",
				diagnose.At(at), names[0])
		}
		if iterates(c.Functions[0]) {
			f.Remedy = fmt.Sprintf("At %s, iterate over fewer elements: bound the iteration, or seek to the wanted element, instead "+
				"of calling %s for each.", diagnose.At(at), names[0])
		}
		if slices.Contains(readParts, c.Functions[0]) {
			f.Remedy = fmt.Sprintf("At %s, read the parts of the request as they arrive (Request.MultipartReader) and pass each on: "+
				"%s first stores the whole body in memory or in a file.", diagnose.At(at), names[0])
		}
	default:
		list := strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
		f.Title += ", most of it in " + list
		f.Remedy = fmt.Sprintf("At %s, cache the results of %s for each input (parse, compile or validate once), or call them "+
			"less often.", diagnose.At(at), list)
	}
	if names, ok := openedAndClosed(c.Functions); ok {
		f.Remedy = fmt.Sprintf("Open it once and keep it, instead of opening and closing it for each request at %s (%s).",
			diagnose.At(at), names)
	}
}

// openedAndClosed returns the names of a call's functions if one of them is a Close. It has no result to cache: what to keep is
// whatever the others opened.
func openedAndClosed(functions []string) (names string, ok bool) {
	short := make([]string, len(functions))
	for i, f := range functions {
		short[i] = callstack.Short(f)
		ok = ok || strings.HasSuffix(f, ".Close")
	}
	return strings.Join(short, ", "), ok
}
