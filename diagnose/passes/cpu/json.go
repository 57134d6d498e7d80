package cpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

const (
	// leastJSON is the least share of the service's CPU, see text.go.
	leastJSON = 0.16
	// mostPerByte is the most CPU, in ns, that an encoder or decoder takes for a byte: the slow ones manage 10 MB/s,
	// which is half of it, and the corpus' take 2 to 43. One that takes more works on other bytes too.
	mostPerByte = 200
	// mostly is the part of a place's JSON that must go one way, and partly the part that each way of a copy has.
	mostly = 0.5
	partly = 0.3
	// near is how many callers above a place are searched for where its input comes from.
	near = 2
)

// reflectsJSON reports whether the encoder reflects on each value, as the standard
// library's and protobuf's do; an unknown one is assumed to.
func reflectsJSON(h usage.Hot) bool {
	return h.Callee == "" || strings.HasPrefix(h.Callee, "json.") ||
		strings.HasPrefix(h.Callee, "protojson.") || strings.HasPrefix(h.Callee, "jsonpb.")
}

// JSON finds services that spend their CPU on JSON.
//
// Rule: the outermost library decides. A response encoded into a compressor counts
// as compression, JSON inside a logger as logging; the remedies differ. The gain
// must be 1.85x because encoding responses is the purpose of many services; with a fast
// encoder the remedy is already applied, and only sending less remains.
//
// A faster encoder is the last remedy: work that is not done takes no time. Where the sizes of requests and
// responses show that less can be done, the advice begins with that (see jsonLess).
var JSON = domain{
	name: "json", roles: callstack.JSON, handed: true, least: leastJSON,
	doc: "Counts CPU samples inside JSON encoders and decoders, at 16 % or more of the service's CPU; a defect if removing it " +
		"would gain 1.85x.",
	title: fixed("JSON encoding and decoding"),
	worth: func(h usage.Hot) float64 {
		if reflectsJSON(h) {
			return essential
		}
		return essentialFast
	},
	cause: diagnose.Cause{
		ID: "cpu-json", Title: "JSON uses too much CPU",
		Doc: "A large part of the CPU is spent encoding or decoding JSON: large responses encoded again for " +
			"each request, or bodies decoded into loose maps.",
		Knows: "CPU samples whose outermost library inside the handler is a JSON package, reflection and allocation below it " +
			"included, and the collection of what it allocates; at least 16 % of the service's CPU. JSON inside a logger " +
			"is cpu-logging, and a response that an encoder writes into a compressor is cpu-compress. A JSON service may well " +
			"spend a third of its CPU on JSON: it is a defect only if removing it would gain 1.85x (4.3x if the encoder is a " +
			"fast one); below that confidence is low. Where: the user's line that calls the encoder. An encoder takes 2 to 100 ns " +
			"per byte. If decoding takes more than 200 ns of CPU for each byte of a request, the input comes from " +
			"elsewhere or is decoded again and again, and redline advises decoding less first. If all responses have the same " +
			"size, it advises caching the encoded bytes first. Neither if requests compress or decompress: the bytes then do " +
			"not say how much is encoded.",
		Remedy: "Decode values once, cache encoded responses, make bodies smaller, use a generated or faster encoder.",
		Example: diagnose.Example{Lang: "go",
			Before: "func (s *shop) list(w http.ResponseWriter, r *http.Request) {\n" +
				"\tjson.NewEncoder(w).Encode(s.catalogue) // 900 products, again\n}",
			After: "func (s *shop) list(w http.ResponseWriter, r *http.Request) {\n" +
				"\tw.Write(s.encoded.Load().([]byte)) // encoded when the catalogue changes\n}"},
		Verify: verify, Cases: []string{"menu-listing", "probe-uploads", "product-api", "letter-press"},
	},
	instead: jsonLess,
	remedy: func(h usage.Hot) string {
		if !h.User && callstack.Dependency(h.Place.Function) {
			return fmt.Sprintf("%s is in a dependency: give it less to encode or decode (fields, rows, the same text twice), or use "+
				"another version of it.", diagnose.At(h.Place))
		}
		if reflectsJSON(h) {
			return fmt.Sprintf("At %s, use generated code or a faster encoder for these types (this one "+
				"reflects on every value), send fewer fields, or cache the encoded bytes.", diagnose.At(h.Place))
		}
		return fmt.Sprintf("At %s, send fewer fields, or cache the encoded bytes; the encoder is a fast one already.", diagnose.At(h.Place))
	},
}.analyzer()

// traffic is a place's JSON, in ns of CPU per request, and the bytes that requests send and receive.
type traffic struct {
	encoding, decoding float64
	sent, got          float64 // mean bytes of a request and of a response, with their headers
	same               bool    // all responses have the same size
}

// brings reports whether the requests may carry what is decoded, and gets whether their responses may be what is
// encoded, by the least speed of an encoder.
func (t traffic) brings() bool { return t.decoding <= mostPerByte*t.sent }
func (t traffic) gets() bool   { return t.encoding <= mostPerByte*t.got }

// trafficOf returns the JSON that a function calls for; ok is false where requests or bytes were not counted.
func trafficOf(p *diagnose.Pass, use *usage.Table, at taken) (t traffic, ok bool) {
	sent, got, counted := exchanged(p)
	rate, all := p.Load().Rate, 0.0
	if !counted || !(rate > 0) || !(p.Own() > 0) {
		return t, false
	}
	for _, s := range use.Causing(callstack.JSON, at.caller) {
		all += s.Value
		if decodes(p, s.Stack[:s.User]) {
			t.decoding += s.Value
		}
	}
	if all == 0 {
		return t, false
	}
	cpu := at.hot.Share * p.Own() / rate * 1e9
	t.decoding *= cpu / all
	t.encoding = cpu - t.decoding
	t.sent, t.got, t.same = sent, got, sameSize(p)
	return t, true
}

// decodes reports whether the outermost JSON function of a stack decodes.
func decodes(p *diagnose.Pass, stack []code.Frame) bool {
	for _, f := range slices.Backward(stack) {
		if p.Stacks.Role(f.Function).Has(callstack.JSON) {
			return callstack.Decodes(f.Function)
		}
	}
	return false
}

// sameSize reports whether all responses have the same size: in each window the bytes are the same multiple of the
// requests.
func sameSize(p *diagnose.Pass) bool {
	requests, bytes := p.Series(series.LoadRequests, "").Values, p.Series(series.LoadBytesIn, "").Values
	size, windows := 0.0, 0
	for i := range min(len(requests), len(bytes)) {
		if !(requests[i] > 0) || !(bytes[i] >= 0) {
			continue
		}
		if each := bytes[i] / requests[i]; windows == 0 {
			size = each
		} else if each != size {
			return false
		}
		windows++
	}
	return windows >= leastWindows
}

// leastWindows is the number of windows whose responses must have the same size.
const leastWindows = 5

// jsonLess puts doing less before doing it faster, where the sizes of requests and responses say that this is
// possible: decoding takes more CPU than the bytes of a request can, or responses are all alike.
// fake-gcs-server decodes all objects of a bucket for a request of 100 bytes.
func jsonLess(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, t taken) {
	m, ok := trafficOf(p, use, t)
	if !ok {
		return
	}
	at, all := diagnose.At(t.hot.Place), m.encoding+m.decoding
	switch {
	case !m.brings() && !m.gets() && min(m.decoding, m.encoding) >= partly*all:
		// A document that is read, changed and written back to a store looks the same.
		f.Remedy = fmt.Sprintf("If values are only copied by encoding and decoding them at %s (it is more than requests send and "+
			"receive), assign their fields, or keep the typed value. Otherwise: %s", at, f.Remedy)
	case !m.brings() && m.decoding >= mostly*all:
		source, asked := sourceOf(p, use, callstack.JSON, t.caller)
		f.Remedy = fmt.Sprintf("First, decode less at %s: a request of %s brings less than is decoded there%s. %s A faster decoder or "+
			"generated code comes second.", at, diagnose.Size(m.sent), source, lessOf(asked))
		keptWhole(p, f, t, asked)
	case m.same && m.gets() && m.encoding >= (1-partly)*all: // responses to what is decoded depend on it
		f.Remedy = fmt.Sprintf("All responses to this load have the same size: if they are identical, cache the encoded bytes until the "+
			"value changes. Otherwise: %s", f.Remedy)
	default:
		return
	}
	f.Evidence = append(f.Evidence,
		diagnose.Fact(diagnose.FromLoad, m.sent, diagnose.Bytes, "a request has %s and its response %s",
			diagnose.Size(m.sent), diagnose.Size(m.got)),
		diagnose.Fact(diagnose.FromProfile, m.decoding, diagnose.Nanosec, "per request, %s decodes for %s and encodes for %s",
			callstack.Short(t.caller), diagnose.Span(m.decoding), diagnose.Span(m.encoding)))
}

// lessOf advises how to decode less. What was called for may depend on the request.
func lessOf(asked bool) string {
	const needs = "only what responses need (check names and sizes first, json.RawMessage or a smaller type for the rest)"
	if asked {
		return "Decode " + needs + "; if the same data is requested again, decode it once and cache the value until its source changes."
	}
	return "Decode it once and cache the value until its source changes, or decode " + needs + "."
}

// sourceOf says, in brackets, where a function's input comes from: what it or one of its nearest callers
// reads or calls for; "" if that was not seen. asked is set if it is the response to a call.
func sourceOf(p *diagnose.Pass, use *usage.Table, decoder callstack.Role, function string) (words string, asked bool) {
	callers := above(p, use, decoder, function)
	best := near + 1
	found := func(stack []code.Frame, format string, asks bool) {
		for _, f := range stack {
			name := callstack.Enclosing(f.Function)
			if depth, ok := callers[name]; ok && depth < best {
				best, words, asked = depth, fmt.Sprintf(format, callstack.Short(name)), asks
			}
		}
	}
	reads := func(stack []code.Frame) {
		if roles := p.Stacks.Roles(stack); roles.Has(callstack.FileIO) && !roles.Has(callstack.FileWrite) {
			found(stack, " (a file that %s reads)", false)
		}
	}
	for s := range use.All {
		reads(s.Stack)
	}
	if p.Anatomy != nil {
		for _, part := range p.Anatomy.All {
			reads(part.Stack)
		}
	}
	if ops := p.Operations(); ops != nil {
		for _, o := range ops.Operations {
			format := " (the response to " + strings.ReplaceAll(o.Text, "%", "%%") + ", which %s requests)"
			switch o.Kind {
			case operation.HTTP, operation.RPC, operation.Redis:
			case operation.Query:
				format = " (rows that %s reads)"
			default:
				continue
			}
			for _, by := range o.Callers {
				found(by.Stack, format, true)
			}
		}
	}
	return words, asked
}

// above returns a function and its nearest callers of the service's, by their distance, as far as most of its decoding
// comes through them.
func above(p *diagnose.Pass, use *usage.Table, decoder callstack.Role, function string) map[string]int {
	depths, values, total := map[string]int{}, map[string]float64{}, 0.0
	for _, s := range use.Causing(decoder, function) {
		total += s.Value
		last, depth := "", 0
		for _, f := range s.Stack[s.User:] {
			name := callstack.Enclosing(f.Function)
			if name == last || !p.Stacks.User(f) {
				continue
			}
			if depth > near {
				break
			}
			if at, ok := depths[name]; !ok || depth < at {
				depths[name] = depth
			}
			values[name] += s.Value
			last, depth = name, depth+1
		}
	}
	for name, value := range values {
		if value < mostly*total {
			delete(depths, name)
		}
	}
	return depths
}
