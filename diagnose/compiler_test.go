package diagnose_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
)

// findAt returns the finding of an analyzer of a stage that names a place.
func findAt(t *testing.T, rec *record.Record, stage diagnose.Stage, at code.Frame) findings.Finding {
	t.Helper()
	a := finds("alloc", cause("alloc"), 2, findings.High)
	a.Stage = stage
	run := a.Run
	a.Run = func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		found, err := run(p)
		found[0].Where = diagnose.WhereOf(at)
		return found, err
	}
	out, err := diagnose.Run(rec, nil, []diagnose.Analyzer{a})
	if err != nil {
		t.Fatal(err)
	}
	return out.Findings[0]
}

// TestCompilersReasons: a finding about memory says why its line allocates, and not
// what the compiler says about other lines or other costs.
func TestCompilersReasons(t *testing.T) {
	rec, _ := diagnosetest.New(16, 10*time.Millisecond).Open(t)
	at := code.Frame{Function: "main.load", File: "shop/main.go", Line: 6}
	if err := disk.WriteJSON(rec.Dir, code.File, code.Compiler{Lines: []code.HotLine{
		{Frame: code.Frame{Function: "main.load", Line: 7}, Bytes: 0.4, Remarks: []code.Remark{{Kind: code.Escapes, Text: "other"}}},
		{Frame: at, Bytes: 0.9, Remarks: []code.Remark{
			{Kind: code.Escapes, Text: "o escapes to heap", Flow: []string{"&o (address-of) at main.go:7", "return &o (return) at main.go:7"}},
			{Kind: code.BoundsCheck, Text: "checked"},
		}},
	}}); err != nil {
		t.Fatal(err)
	}
	for stage, want := range map[diagnose.Stage]string{
		diagnose.Memory: "the compiler at main.go:6: o escapes to heap (return &o (return) at main.go:7)",
		diagnose.CPUUse: "the compiler at main.go:6: checked",
		diagnose.Wait:   "",
	} {
		var said []string
		for _, e := range findAt(t, rec, stage, at).Evidence {
			if e.Source == diagnose.FromCompiler {
				said = append(said, e.Text)
			}
		}
		if got := strings.Join(said, "; "); got != want {
			t.Errorf("stage %d: the compiler is quoted as %q, want %q", stage, got, want)
		}
	}
}

// TestLoopsAround: a finding about CPU names the innermost and the outermost loop around its function, but not a worker's own.
func TestLoopsAround(t *testing.T) {
	at := code.Frame{Function: "main.fee", File: "shop/main.go", Line: 5}
	loops := []code.Frame{{Function: "main.list", Line: 12}, {Function: "main.page", Line: 30}, {Function: "main.worker", Line: 40}}
	for _, c := range []struct {
		name, want string
		stage      diagnose.Stage
		stack      []string
		background bool
	}{
		{"one loop", "in the loop of main.list at main.go:12", diagnose.CPUUse, []string{"main.list@main.go:12", "main.page@main.go:29"}, false},
		{"two loops", "in the loops of main.list at main.go:12 and main.page at main.go:30", diagnose.Memory,
			[]string{"main.list@main.go:12", "main.mid@main.go:20", "main.page@main.go:30"}, false},
		{"a worker's loop", "", diagnose.CPUUse, []string{"main.one@main.go:35", "main.worker@main.go:40"}, true},
		{"a wait", "", diagnose.Wait, []string{"main.list@main.go:12", "main.page@main.go:29"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := diagnosetest.New(16, 10*time.Millisecond)
			if stack := append([]string{"main.fee@main.go:5"}, c.stack...); c.background {
				b.Background(time.Second, stack...)
			} else {
				b.Sample(time.Second, stack...)
			}
			rec, _ := b.Open(t)
			if err := disk.WriteJSON(rec.Dir, code.File, code.Compiler{Loops: loops}); err != nil {
				t.Fatal(err)
			}
			if got := findAt(t, rec, c.stage, at).Where.Detail; got != c.want {
				t.Errorf("the place is %q, want %q", got, c.want)
			}
		})
	}
}
