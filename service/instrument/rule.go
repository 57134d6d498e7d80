package instrument

import (
	"fmt"
	"slices"
	"strings"
)

// rule describes the changes to one package.
type rule struct {
	name  string // of the package clause
	edits []edit
	// extra is Go source for the added file, next to the hooks: code that the wrappers
	// call. Its imports are in imports.
	imports []string
	extra   string
	// pool names the package's pools of connections, which it shows by a redlineShown;
	// "" where it has none.
	pool string
	// identifies is set if the wrappers report what distinguishes a call, by redlineIdentify or redlineCall.
	identifies bool
}

// edit is one function to wrap or one struct to extend. All edits of a rule must be
// possible, except for optional ones: half of a pair would count operations that never end.
type edit struct {
	receiver, function string
	// types are the types of parameters and results on which body relies, by its marks:
	// {"$5": "string"}. A function with other types is not the intended one.
	types map[string]string
	body  string
	// structure and fields extend a struct instead of wrapping a function.
	structure, fields string
	optional          bool
}

func (e edit) String() string {
	switch {
	case e.structure != "":
		return "type " + e.structure
	case e.receiver != "":
		return "(" + e.receiver + ")." + e.function
	}
	return e.function
}

// apply makes the edits in a package's files, or says why none was made.
func (r rule) apply(files map[string]*source) (why string) {
	for _, s := range files {
		if s.file.Name.Name != r.name {
			return fmt.Sprintf("it is package %s, not %s", s.file.Name.Name, r.name)
		}
	}
	for _, e := range r.edits {
		if why := e.apply(files); why != "" && !e.optional {
			return why
		}
	}
	return ""
}

func (e edit) apply(files map[string]*source) (why string) {
	for _, s := range files {
		if e.structure != "" {
			if fields := s.structure(e.structure); fields != nil {
				s.insert(fields.Opening+1, " "+e.fields+"; ")
				return ""
			}
			continue
		}
		if f := s.function(e.receiver, e.function); f != nil {
			if why := e.fits(s.values(f.Type.Params, ""), s.values(f.Type.Results, "")); why != "" {
				return e.String() + " " + why
			}
			if why := s.wrap(f, e.body); why != "" {
				return e.String() + " " + why
			}
			return ""
		}
	}
	return "it has no " + e.String()
}

// fits checks the types that a body relies on.
func (e edit) fits(in, out []value) (why string) {
	for mark, typ := range e.types {
		list, number := in, strings.TrimPrefix(mark, "$")
		if rest, result := strings.CutPrefix(number, "r"); result {
			list, number = out, rest
		}
		at := int(number[0] - '1')
		if at >= len(list) || strings.ReplaceAll(list[at].typ, "interface{}", "any") != typ { // older sources have the long name
			return fmt.Sprintf("has another signature: %s is not %s", mark, typ)
		}
	}
	return ""
}

// hooks returns the added file: the variables that the probe sets, and their callers.
func (r rule) hooks() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Added by redline to this build; see its package service/instrument.\n\npackage %s\n\n"+
		"import (\n\t_ \"unsafe\" // for go:linkname\n", r.name)
	for _, path := range slices.Sorted(slices.Values(r.imports)) {
		fmt.Fprintf(&b, "\t%q\n", path)
	}
	b.WriteString(")\n")
	b.WriteString(bridge)
	if r.identifies {
		b.WriteString(identifyBridge)
	}
	if r.pool != "" {
		fmt.Fprintf(&b, poolBridge, r.pool)
	}
	b.WriteString(r.extra)
	return b.String()
}

// bridge is the same in every package. BeginHook and EndHook name its variables.
const bridge = `
//go:linkname redlineBegin
var redlineBegin func(kind uint32, name, more string) (op uint64, start int64)

//go:linkname redlineEnd
var redlineEnd func(op uint64, start, rows int64, flags uint32)

func redlineStart(kind uint32, name, more string) (op uint64, start int64) {
	if redlineBegin == nil {
		return 0, 0
	}
	return redlineBegin(kind, name, more)
}

func redlineStop(op uint64, start, rows int64, flags uint32) {
	if op != 0 {
		redlineEnd(op, start, rows, flags)
	}
}

func redlineFailed(err error) uint32 {
	if err != nil {
		return 1
	}
	return 0
}
`

// identifyBridge is the same in every package that identifies its calls.
const identifyBridge = `
//go:linkname redlineIdentify
var redlineIdentify func(op uint64, a, b, c string, values []interface{}) uint64

func redlineCall(op uint64, text string, values []interface{}) uint64 {
	if op == 0 || redlineIdentify == nil {
		return op
	}
	return redlineIdentify(op, text, "", "", values)
}
`

// poolBridge is the same in every package with pools. The figures have the order of
// probe/slots.Figures.
const poolBridge = `
//go:linkname redlinePool
var redlinePool func(name string, read func(*[7]float64)) (remove func())

// redlineShown shows a pool until hide.
type redlineShown struct{ remove func() }

func (s *redlineShown) show(read func(*[7]float64)) {
	if redlinePool != nil {
		s.remove = redlinePool(%q, read)
	}
}

func (s *redlineShown) hide() {
	if s.remove != nil {
		s.remove()
	}
}
`

// Identifies reports whether an instrumented package identifies its calls: it has [IdentifyHook].
func Identifies(importPath string) bool { return rules[importPath].identifies }

// Pools reports whether an instrumented package shows its pools: it has [PoolHook].
func Pools(importPath string) bool { return rules[importPath].pool != "" }

// Names of the variables in each instrumented package; PoolHook is in those with pools, IdentifyHook in those that
// identify their calls.
const (
	BeginHook    = "redlineBegin"
	EndHook      = "redlineEnd"
	PoolHook     = "redlinePool"
	IdentifyHook = "redlineIdentify"
)
