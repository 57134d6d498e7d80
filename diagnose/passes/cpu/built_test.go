package cpu_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/cpu"
	"github.com/redline-go/redline/record/findings"
)

// What a library makes for each request, whatever its CPU goes into, is named where it is made, and
// is to be kept; its maps are nothing that the caller could give a size.
func TestMadeByALibraryForEachRequest(t *testing.T) {
	const lib, at = "github.com/rules/schema.", "shop/web.check@web.go:58"
	call := func(b *Builder, d time.Duration, inner ...string) *Builder {
		return b.Sample(d, append(inner, lib+"newValidator", lib+"(*Schema).Visit", lib+"Validate", at)...)
	}
	compiles := func(first string) *Builder {
		b := call(Healthy(), 3*s, "runtime.mapassign_faststr", lib+"(*roots).add", lib+first)
		call(b, 2*s, "runtime.mallocgc", lib+"(*queue).push", lib+first)
		return call(b, s, lib+"walk", "encoding/json.Marshal")
	}
	found := Expect(t, cpu.Hot, compiles("(*Compiler).Compile"), "cpu-hot-function at web.go:58")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "schema.(*Compiler).Compile") ||
		!strings.Contains(found[0].Remedy, "keep it")) {
		t.Errorf("the compiler is not named: %s; %s", found[0].Title, found[0].Remedy)
	}
	Expect(t, cpu.Map, compiles("(*Compiler).Compile"))
	// Without a step that makes something below it, what is made is the validator.
	found = Expect(t, cpu.Hot, compiles("visit"), "cpu-hot-function at web.go:58")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "schema.newValidator") || found[0].Confidence != findings.Low) {
		t.Errorf("a constructor's input may be the request's: %s, %s", found[0].Title, found[0].Confidence)
	}
	// Parsing is a step of the compiling.
	found = Expect(t, cpu.Hot, call(Healthy(), 6*s, lib+"next", lib+"parse", lib+"compile"), "cpu-hot-function at web.go:58")
	if len(found) == 1 && !strings.Contains(found[0].Title, "schema.compile") {
		t.Errorf("a part of the compiling is named: %s", found[0].Title)
	}
	// What only reads what it is given makes nothing, nor does what makes its buffer and goes on.
	for _, f := range []string{"newlines", "newBufferAndExecute"} {
		reads := Healthy().Sample(6*s, "runtime.mapaccess1_faststr", lib+"(*rule).holds", lib+f, lib+"Validate", at)
		Expect(t, cpu.Hot, reads)
		found = Expect(t, cpu.Map, reads, "cpu-map at web.go:58")
		if len(found) == 1 && (!strings.Contains(found[0].Title, "schema.(*rule).holds") || !strings.Contains(found[0].Remedy, "library")) {
			t.Errorf("the maps are the library's: %s; %s", found[0].Title, found[0].Remedy)
		}
	}
	// A domain's own analyzer knows more of it.
	Expect(t, cpu.Hot, call(Healthy(), 6*s, "regexp/syntax.Parse", "regexp.compile", lib+"(*Compiler).Compile"))
}
