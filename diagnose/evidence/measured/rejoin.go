package measured

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
)

// oneWay is the part of the whole stacks with a function that must come to it one way for this to be
// the way of those that are cut there.
const oneWay = 0.85

// rejoin completes the stacks that the runtime cut. Of a deep one, such as a recursive parser's below
// two dozen middlewares, it keeps the innermost frames: the sample shows neither the handler nor the
// server, and looked like a goroutine of its own, so that a parser run for each request was called
// background work. What is missing is known where the whole stacks with the outermost function that
// is left come to it one way. Where they part, only what they have in common is added.
func rejoin(prof *Profile) {
	outside := map[string][]outer{} // by the outermost function that is left of a cut stack
	for _, s := range prof.Samples {
		if s.Cut && len(s.Stack) > 0 {
			outside[s.Stack[len(s.Stack)-1].Function] = nil
		}
	}
	if len(outside) == 0 {
		return
	}
	for _, s := range prof.Samples {
		if !s.Cut {
			gather(outside, s.Stack, float64(s.Value))
		}
	}
	type joined struct {
		way   []code.Frame
		known bool
	}
	ways := make(map[string]joined, len(outside))
	for function, all := range outside {
		way, known := common(all)
		ways[function] = joined{way, known}
	}
	for i := range prof.Samples {
		if s := &prof.Samples[i]; s.Cut && len(s.Stack) > 0 {
			way := ways[s.Stack[len(s.Stack)-1].Function]
			s.Stack, s.Cut = slices.Concat(s.Stack, way.way), !way.known
		}
	}
}

// outer is what a whole stack has outside of a function's outermost call, outermost first.
type outer struct {
	frames []code.Frame
	value  float64
}

// gather adds what a whole stack has outside of each of the functions asked for.
func gather(outside map[string][]outer, stack []code.Frame, value float64) {
	var seen []string
	var frames []code.Frame // outermost first, of the whole stack
	for i := len(stack) - 1; i >= 0; i-- {
		function := stack[i].Function
		if _, asked := outside[function]; asked && !slices.Contains(seen, function) {
			if frames == nil {
				frames = slices.Clone(stack)
				slices.Reverse(frames)
			}
			seen = append(seen, function)
			outside[function] = append(outside[function], outer{frames[:len(stack)-1-i], value})
		}
	}
}

// common returns the frames, innermost first, that nearly all have in common from their outermost one
// on; none where goroutines begin in the function itself. known is false without any, or if they
// begin differently.
func common(all []outer) (way []code.Frame, known bool) {
	total := 0.0
	for _, o := range all {
		total += o.value
	}
	for depth := 0; ; depth++ {
		functions, lines := map[string]float64{}, map[code.Frame]float64{}
		for _, o := range all {
			if depth < len(o.frames) {
				functions[o.frames[depth].Function] += o.value
			} else {
				functions[""] += o.value // it begins here
			}
		}
		next := Heaviest(functions, cmp.Compare[string])
		if total == 0 || next == "" || functions[next] < oneWay*total {
			slices.Reverse(way)
			return way, total > 0 && (depth > 0 || functions[next] >= oneWay*total)
		}
		all = slices.DeleteFunc(all, func(o outer) bool { return depth >= len(o.frames) || o.frames[depth].Function != next })
		for _, o := range all {
			lines[o.frames[depth]] += o.value
		}
		way = append(way, Heaviest(lines, CompareFrames))
	}
}

// completed returns an anatomy whose cut stacks have the frames that the runtime did not record, where a hook saw them. A client
// with many layers, such as an SDK for a cloud's API, can fill a whole stack of the trace with its own frames. The wait then
// seems to be nobody's. The hooks take the outer end of the stack of whoever asks for an operation. If several functions ask
// for it, only what their stacks have in common is added.
func (p *Run) completed(a *breakdown.Anatomy) *breakdown.Anatomy {
	if a == nil {
		return nil
	}
	ops := p.Operations()
	if ops == nil {
		return a
	}
	callers := make(map[int][]operation.Caller, len(ops.Operations))
	for _, o := range ops.Operations {
		callers[o.ID] = o.Callers
	}
	out := *a
	for _, parts := range []*[]breakdown.Part{&out.All, &out.Median, &out.Tail} {
		*parts = slices.Clone(*parts)
		for i := range *parts {
			part := &(*parts)[i]
			if part.Cut {
				part.Stack = whole(part.Stack, callers[part.Operation])
			}
			part.Behind = wholeChains(part.Behind, callers)
		}
	}
	return &out
}

// wholeChains returns chains with the cut stacks of their links completed.
func wholeChains(chains []breakdown.Chain, callers map[int][]operation.Caller) []breakdown.Chain {
	chains = slices.Clone(chains)
	for i := range chains {
		if !slices.ContainsFunc(chains[i].Links, func(l breakdown.Link) bool { return l.Cut }) {
			continue
		}
		chains[i].Links = slices.Clone(chains[i].Links)
		for j := range chains[i].Links {
			if l := &chains[i].Links[j]; l.Cut {
				l.Stack = whole(l.Stack, callers[l.Operation])
			}
		}
	}
	return chains
}

// whole returns a cut stack with the outer frames that those who ask for its operation have in common.
func whole(stack []code.Frame, callers []operation.Caller) []code.Frame {
	if len(stack) == 0 {
		return stack
	}
	// The last frame that is left distinguishes callers whose stacks the hooks kept whole.
	last := stack[len(stack)-1]
	if left := having(callers, last); len(left) > 0 {
		callers = left
	}
	var lost []outer
	for _, c := range callers {
		lost = append(lost, outer{lacks(stack, c.Stack), float64(c.Sampled)})
	}
	way, _ := common(lost)
	return slices.Concat(stack, way)
}

// having returns the callers with a frame on their stacks.
func having(callers []operation.Caller, f code.Frame) (list []operation.Caller) {
	for _, c := range callers {
		if slices.Contains(c.Stack, f) {
			list = append(list, c)
		}
	}
	return list
}

// lacks returns the outer frames of a caller's stack, outermost first, up to the first that the cut stack has too.
func lacks(stack, caller []code.Frame) (frames []code.Frame) {
	for _, f := range slices.Backward(caller) {
		if slices.Contains(stack, f) {
			break
		}
		if f.Function != "runtime.goexit" {
			frames = append(frames, f)
		}
	}
	return frames
}
