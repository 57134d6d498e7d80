package cpu

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/series"
)

// exchanged returns the mean bytes of a request and of a response, with their headers; ok is false where requests or
// bytes were not counted, and where requests compress or decompress, so that these bytes may stand for many times as many.
func exchanged(p *diagnose.Pass) (sent, got float64, ok bool) {
	requests, counted := p.Sum(series.LoadRequests, "")
	in, answered := p.Sum(series.LoadBytesIn, "")
	out, asked := p.Sum(series.LoadBytesOut, "")
	if !counted || !answered || !asked || !(requests > 0) || compresses(p) {
		return 0, 0, false
	}
	return out / requests, in / requests, true
}

// compresses reports whether requests compress or decompress anything but what the HTTP client of the service receives.
func compresses(p *diagnose.Pass) bool {
	use, err := p.Use()
	return err == nil && use.Part(func(s usage.Booked) bool {
		return s.Roles.Has(callstack.Compress) && p.Stacks.Serves(s.Stack) && !slices.ContainsFunc(s.Stack, func(f code.Frame) bool {
			return strings.HasSuffix(f.Function, "gzipReader).Read") && strings.HasPrefix(f.Function, "net/http.")
		})
	}) > 0
}

// formatLess puts caching text before building it faster, where it is neither what requests send nor what they receive.
// watchman normalises the names of all its entities for each search of 100 bytes.
func formatLess(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, t taken) {
	sent, got, ok := exchanged(p)
	if !ok || !needless(p, t) {
		return
	}
	f.Remedy = fmt.Sprintf("If the text at %s derives from stored data, build it once, when that data is loaded or changes, and "+
		"cache it: it is more than requests send and receive. Otherwise: %s", diagnose.At(t.hot.Place), f.Remedy)
	each := spends(p, t)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, each, diagnose.Nanosec,
		"%s takes %s for a request of %s and a response of %s", callstack.Short(t.hot.Place.Function), diagnose.Span(each),
		diagnose.Size(sent), diagnose.Size(got)))
	if _, known := scanned(p, use); !known {
		searched(p, f, t)
	}
}

// searched advises an index where a line formats for each of many stored elements: if the request looks for one of them, nothing
// that its function does for the rest is needed. heimdall formats the path for each of 500 rules, and matches it.
func searched(p *diagnose.Pass, f *diagnose.Finding, t taken) {
	allocs, err := p.Profile("allocs", "alloc_objects")
	requests := p.Load().Requests
	if err != nil || !(requests > 0) {
		return
	}
	objects := 0.0
	for _, s := range allocs.Samples {
		if i := p.Stacks.Innermost(s.Stack); i >= 0 && s.Stack[i] == t.hot.Place {
			objects += float64(s.Value) / requests
		}
	}
	function := t.hot.Place.Function
	if objects < manyTimes || callsAny(t.hot, "runtime.concatstring") {
		return
	}
	all := p.Within(function)
	part, whole := p.Ran(evidence.Work{Share: f.Share, Roles: callstack.Format}), p.Ran(evidence.Work{Share: all, Function: function})
	if whole.Factor <= part.Factor {
		return
	}
	f.Remedy += fmt.Sprintf(" The line runs for many elements per request: if the request looks for one of them, index them "+
		"by what it looks for, and %s no longer works on the rest.", callstack.Short(function))
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, objects, diagnose.Count,
		"the line allocates %s objects per request; the function as a whole takes %s of the CPU", diagnose.Number(objects),
		diagnose.Percent(all)))
	part.Low, part.High = cmp.Or(part.Low, part.Factor), whole.Factor
	diagnose.Promise(f, part)
}

// decodeLess puts decoding once before decoding faster, where requests do not carry what is decoded: a file of settings.
func decodeLess(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, t taken) {
	sent, _, ok := exchanged(p)
	if _, name, _ := strings.Cut(t.hot.Callee, "."); !ok || !needless(p, t) || !callstack.Decodes(name) {
		return
	}
	source, asked := sourceOf(p, use, callstack.Reflect, t.caller)
	f.Remedy = fmt.Sprintf("Decode once and cache the value until its source changes: a request of %s brings less than is decoded at "+
		"%s%s. Otherwise: %s", diagnose.Size(sent), diagnose.At(t.hot.Place), source, f.Remedy)
	keptWhole(p, f, t, asked)
}

// wholly is the part of a function's CPU from which the value that it decodes is what the function is for.
const wholly = 0.7

// keptWhole promises what caching a decoded value saves: all that its function does to get it, opening and reading the source as
// well, if decoding is most of that. If it is the response to a call, which may differ with each request, that is the most.
func keptWhole(p *diagnose.Pass, f *diagnose.Finding, t taken, asked bool) {
	function := t.hot.Place.Function
	within := p.Within(function)
	if within <= f.Share || f.Share < wholly*within {
		return
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, within, diagnose.Ratio,
		"everything that %s does to get the value takes %s of the CPU", callstack.Short(function), diagnose.Percent(within)))
	kept := p.Ran(evidence.Work{Share: min(1, within), Function: function})
	if asked {
		part, whole := p.Ran(evidence.Work{Share: f.Share, Function: function}), kept
		if share := asksFor(p, function); share > 0 { // nor is the source asked then, which may compute on this host as well
			whole = p.Unasked(share, min(1, within))
			f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, share, diagnose.Ratio,
				"requests wait %s of their time for what %s asks for", diagnose.Percent(share), callstack.Short(function)))
		}
		kept.Factor, kept.Low, kept.High = part.Factor, cmp.Or(part.Low, part.Factor), max(kept.Factor, kept.High, whole.Factor, whole.High)
	}
	diagnose.Promise(f, kept)
}

// asksFor returns the part of request time, 0 to 1, in which requests wait for other programs below a function.
func asksFor(p *diagnose.Pass, function string) (share float64) {
	w := p.Waits()
	for _, kind := range w.Kinds() {
		if !p.Asks(kind) {
			continue
		}
		for _, site := range w.Sites(kind) {
			if slices.ContainsFunc(site.Part.Stack, func(f code.Frame) bool { return f.Function == function }) {
				share += site.Share
			}
		}
	}
	return share
}

// needless reports whether the bytes that requests send and receive cannot take the CPU that a use takes at its hottest place: it
// is then not a purpose of the service, whatever else is.
func needless(p *diagnose.Pass, t taken) bool {
	sent, got, ok := exchanged(p)
	return ok && t.hot.User && spends(p, t) > mostPerByte*(sent+got)
}

// spends returns the CPU that a use takes at its hottest place, in ns per request; 0 if it is not known.
func spends(p *diagnose.Pass, t taken) float64 {
	rate, own := p.Load().Rate, p.Own()
	if !(rate > 0) || !(own > 0) {
		return 0
	}
	return t.hot.Share * own / rate * 1e9
}

// derives are kinds of work by which a comparison makes what it compares, and which depend on one element only.
const derives = callstack.RegexpMatch | callstack.RegexpCompile | callstack.Format | callstack.JSON | callstack.Reflect | callstack.Crypto

// keyOnce advises keys for a sort whose comparisons spend most of its time on making what they compare: n log n
// comparisons make two each, where n would do.
func keyOnce(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, t taken) {
	all, parts := 0.0, map[string]float64{}
	for _, s := range use.Causing(callstack.Sort, t.caller) {
		all += s.Value
		i := p.Stacks.Innermost(s.Stack)
		if i >= 0 && i < s.User && p.Stacks.Roles(s.Stack[:i]).Has(derives) {
			parts[s.Stack[i].Function] += s.Value
		}
	}
	name := measured.Heaviest(parts, cmp.Compare[string])
	if !(parts[name] >= mostly*all) || all == 0 {
		return
	}
	short := callstack.Short(name)
	f.Title += ", in " + short
	f.Remedy = fmt.Sprintf("Compute each element's key once, before sorting at %s, and compare the keys: %s runs for both sides "+
		"of each comparison. Or compare without building keys.", diagnose.At(t.hot.Place), short)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, parts[name]/all, diagnose.Ratio,
		"%s of the sorting is in %s", diagnose.Percent(parts[name]/all), short))
}

// mostLogLines is how many of the lines that compute log arguments are named.
const mostLogLines = 3

// notForLog advises to compute log arguments only for lines that are written, where they take most of what logging takes.
func notForLog(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, t taken) {
	keepOpen(p, use, f, t)
	lines := map[string]float64{}
	share := use.Part(func(s usage.Booked) bool {
		at := p.Stacks.ForLog(s.Stack)
		if at < 0 || !s.Domain.Has(callstack.Logging) {
			return false
		}
		lines[diagnose.At(s.Stack[at+1])] += float64(s.Value)
		return true
	})
	if share < t.direct/2 {
		return
	}
	places := slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[b], lines[a]), cmp.Compare(a, b))
	})
	at := strings.Join(places[:min(len(places), mostLogLines)], ", ")
	f.Title = strings.Replace(f.Title, "Writing log lines", "Computing log arguments", 1)
	f.Remedy = fmt.Sprintf("Check that the level is enabled before computing log arguments at %s, or pass the value itself and let "+
		"the logger format it only if it writes the line (fmt.Stringer, slog.LogValuer). Go evaluates arguments even if the level "+
		"drops the line.", at)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, share, diagnose.Ratio,
		"%s for log arguments, at %s", diagnose.Percent(share), at))
}

// keepOpen advises to keep a log file open where opening it, looking up its folder and closing it are worth a change. lfshook does
// all three for each line, and a buffer in front of it would save none of them.
func keepOpen(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, _ taken) {
	parts := map[string]float64{}
	share := use.Part(func(s usage.Booked) bool {
		i := p.Stacks.Find(s.Stack, callstack.FileMeta)
		if i < 0 || !s.Domain.Has(callstack.Logging|callstack.FileWrite) {
			return false
		}
		parts[asker(s.Stack[i:])] += float64(s.Value)
		return true
	})
	if share < leastCompiled {
		return
	}
	who := callstack.Short(measured.Heaviest(parts, cmp.Compare[string]))
	f.Remedy = fmt.Sprintf("Keep the file open: %s opens, closes or looks it up for each line. Give the logger an open file "+
		"(an io.Writer), or a rotating one. Then: %s", who, f.Remedy)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, share, diagnose.Ratio,
		"%s for opening, looking up and closing files", diagnose.Percent(share)))
}

// asker returns the innermost function on a stack that is not the standard library's.
func asker(stack []code.Frame) string {
	for _, f := range stack {
		if pkg, _ := callstack.Split(f.Function); pkg != "" && !callstack.Standard(pkg) {
			return f.Function
		}
	}
	return ""
}
