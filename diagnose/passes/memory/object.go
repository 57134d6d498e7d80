package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// object is a value that requests make by calling a library's constructor, such as
// a gzip.Writer: several allocations that one pool or one shared value would save
// together.
type object struct {
	callstack.Made
	site
	maker code.Frame // that makes it: a library's
	// via is the dependency's function that calls the constructor on behalf of place, "pdf.(*Doc).write";
	// "" where place does so itself.
	via string
	// each is how many are made per request; 0 if that is not known.
	each float64
}

// objectsOf groups allocations by the type of the value they are part of, largest
// first, each at the user's line that makes most of them. Lazy types allocate at
// first use rather than in the constructor: compress/flate clears its 750 KB when
// the first byte is written.
func objectsOf(p *diagnose.Pass, allocs *measured.Profile) []object {
	type group struct {
		object
		makers, users map[code.Frame]float64 // lines that call the constructor, and that first use the value
		vias          map[string]float64     // dependencies that call the constructor
		structs       map[code.Frame]site    // lines of the constructor that allocate its own struct, on whatever stack
	}
	groups := map[string]*group{}
	for _, s := range allocs.Samples {
		user := p.Stacks.Innermost(s.Stack)
		if user < 0 {
			continue
		}
		m, ok := callstack.Makes(s.Stack, user)
		if !ok {
			continue
		}
		g := groups[m.Type]
		if g == nil {
			g = &group{object: object{Made: m, maker: s.Stack[m.At]}, makers: map[code.Frame]float64{}, users: map[code.Frame]float64{},
				vias: map[string]float64{}, structs: map[code.Frame]site{}}
			groups[m.Type] = g
		}
		g.bytes, g.objects = g.bytes+float64(s.Value), g.objects+float64(s.Count)
		if m.Lazy {
			g.users[s.Stack[user]] += float64(s.Value)
		} else {
			g.makers[s.Stack[user]] += float64(s.Value)
			g.vias[via(s.Stack[m.At:user])] += float64(s.Value)
		}
		// A constructor allocates its own struct once, so that count is the number
		// of values; of several such places the largest is sampled best.
		if leaf := callstack.Enclosing(s.Stack[0].Function); m.At == 0 || m.Lazy && strings.Contains(leaf, ".New") ||
			leaf == "regexp.compile" {
			own := g.structs[s.Stack[0]]
			g.structs[s.Stack[0]] = site{bytes: own.bytes + float64(s.Value), objects: own.objects + float64(s.Count)}
		}
	}
	list := make([]object, 0, len(groups))
	for _, g := range groups {
		if g.place = most(g.makers); g.place.Function == "" {
			g.place = most(g.users)
		}
		g.via = measured.Heaviest(g.vias, cmp.Compare[string])
		g.each = perRequest(p, number(g.structs))
		list = append(list, g.object)
	}
	slices.SortFunc(list, func(a, b object) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.Type, b.Type)) })
	return list
}

// via returns the dependency's function that calls a constructor, which is the first frame; "" where the
// service itself does.
func via(stack []code.Frame) string {
	for _, f := range stack[1:] {
		if callstack.Dependency(f.Function) {
			return callstack.Short(f.Function)
		}
	}
	return ""
}

// most returns the line with the largest sum, and of equal sums the first in order,
// so that ties do not depend on a map's order.
func most(lines map[code.Frame]float64) (best code.Frame) {
	for f, sum := range lines {
		if sum > lines[best] || sum == lines[best] && (f.Function < best.Function || f.Function == best.Function && f.Line < best.Line) {
			best = f
		}
	}
	return best
}

// number returns how many values were made: the count of the line that allocates most; 0 without any.
func number(structs map[code.Frame]site) (n float64) {
	bytes := map[code.Frame]float64{}
	for f, s := range structs {
		bytes[f] = s.bytes
	}
	return structs[most(bytes)].objects
}

// words says where the object is made and how many are, if that is known: "compress.go:31 makes a gzip.Writer per
// request (800 KiB)", "zlib.NewReader at object.go:126 allocates 44.4 MiB per request". size is that of all together.
func (o object) words(size string) string {
	at := diagnose.At(o.place)
	switch {
	case o.each >= 1.5:
		return fmt.Sprintf("%s makes %s %ss per request (%s in all)", at, diagnose.Number(o.each), o.Type, size)
	case o.each >= 0.5:
		return fmt.Sprintf("%s makes %s %s per request (%s)", at, article(o.Type), o.Type, size)
	case o.each > 0:
		return fmt.Sprintf("%s makes %s %s in one request of %s (%s per request)", at, article(o.Type), o.Type,
			diagnose.Number(1/o.each), size)
	}
	return fmt.Sprintf("%s at %s allocates %s per request", o.Maker, at, size)
}

// article returns "a" or "an" as a word is spoken: "an HTTP client".
func article(word string) string {
	if strings.ContainsAny(word[:1], "aeioAEIO") {
		return "an"
	}
	for _, spelt := range []string{"http.", "html", "hmac", "xml", "x509", "lz4", "rsa"} {
		if strings.HasPrefix(word, spelt) {
			return "an"
		}
	}
	return "a"
}

// remedy depends on what the type allows: reuse by Reset, sharing between
// goroutines, or neither known. What a dependency makes is the dependency's to reuse: gopdf makes
// a zlib.Writer for each object of a document.
func (o object) remedy() string {
	at := diagnose.At(o.place)
	if o.via != "" {
		return fmt.Sprintf("%s makes its own %ss on each call from %s: use a version of it that reuses them, call it less often, "+
			"or cache the call's result for the same input.", o.via, o.Type, at)
	}
	switch o.Reuse {
	case callstack.Pooled:
		return fmt.Sprintf("Keep %ss in a sync.Pool and Reset one for each use instead of calling %s at %s.", o.Type, o.Maker, at)
	case callstack.Shared:
		return fmt.Sprintf("Make the %s once, outside of requests, and share it instead of calling %s at %s: it is safe for "+
			"concurrent use.", o.Type, o.Maker, at)
	}
	return fmt.Sprintf("Make the %s once and share it, or keep several in a sync.Pool if it has a Reset, instead of calling "+
		"%s at %s for each request.", o.Type, o.Maker, at)
}
