package decide

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/baseline"
	"github.com/redline-go/redline/verify/session"
)

// TestRebuiltSide: a rebuilt binary is another side.
func TestRebuiltSide(t *testing.T) {
	path := filepath.Join(t.TempDir(), "svc")
	words := func(content string) string {
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return side{command: path + " -l :8080"}.words(&scenario.Plan{}, revision.Built{})
	}
	one, two := words("one"), words("two")
	if again := words("one"); one == two || one != again || !strings.HasPrefix(one, path+" -l :8080 (sha256 ") {
		t.Errorf("%s, rebuilt %s, and as before %s", one, two, again)
	}
	if got := (side{command: "no-such-command -x"}).words(&scenario.Plan{}, revision.Built{}); got != "no-such-command -x" {
		t.Errorf("a command that is not there: %s", got)
	}
}

// TestRebuiltPackage: a commit identifies what was built of it, and a work tree with changes does not.
func TestRebuiltPackage(t *testing.T) {
	dir, sources := t.TempDir(), revision.Sources{Package: "./svc"}
	sum := func(content, commit string, dirty bool) string {
		built := revision.Built{Binary: filepath.Join(dir, "target-b"), Commit: commit, Dirty: dirty}
		if err := os.WriteFile(built.Binary, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		b := builder{done: map[revision.Sources]revision.Built{sources: built}}
		prepared, _, err := side{build: "./svc"}.prepare(t.Context(), &scenario.Plan{}, "b", b)
		if err != nil {
			t.Fatal(err)
		}
		return prepared.Sum
	}
	if one := sum("one", "0123456789abcdef", false); one != "" {
		t.Errorf("of a commit, which another folder gives another binary: %s", one)
	}
	for _, commit := range []string{"0123456789abcdef", ""} {
		if one, two := sum("one", commit, true), sum("two", commit, true); one == two || one != sum("one", commit, true) {
			t.Errorf("of a work tree at %q: %s, changed again %s", commit, one, two)
		}
	}
	if sum("one", "", false) == "" {
		t.Error("outside of git nothing identifies the binary")
	}
}

// TestUndecided: an inconclusive session fails unless it is tolerated, and an invalid one always.
func TestUndecided(t *testing.T) {
	for _, c := range []struct {
		undecided string
		verdict   verify.Verdict
		code      int
	}{
		{undecidedFails, verify.Inconclusive, cli.ExitUndecided},
		{undecidedPasses, verify.Inconclusive, cli.ExitOK},
		{undecidedPasses, verify.Invalid, cli.ExitUndecided},
		{undecidedPasses, verify.Regression, cli.ExitFailed},
	} {
		f := compareFlags{undecided: c.undecided}
		r := verify.Result{Verdict: c.verdict}
		r.Tolerated = f.tolerates(r)
		if code := exitCode(f.print(io.Discard, io.Discard, compared{Result: r}, "s.yaml")); code != c.code {
			t.Errorf("%+v: exit code %d", c, code)
		}
	}
	for want, args := range map[string][]string{
		"pass-with-warning": {"--base", "HEAD", "--on-inconclusive", "ignore", "s.yaml"},
		"need --base":       {"--save-baseline", "b.json", "--changed-only", "s.yaml"},
	} {
		cmd := GateCommand()
		cmd.SetArgs(args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestLasting: a metric that worsened permanently is named once it decides, whatever the verdict of
// each commit was.
func TestLasting(t *testing.T) {
	store, err := history.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	host := record.Host{OS: "linux", CPUs: 2}
	for i, v := range []float64{40e3, 40.2e3, 39.9e3, 40.1e3, 40e3, 44.1e3, 44e3, 44.2e3, 43.9e3} {
		at := time.Date(2026, 4, 1, i, 0, 0, 0, time.UTC)
		r := history.Result{Time: at, Commit: revision.Commit{Hash: fmt.Sprintf("%08x", 0xbeef0000+i), Time: at}, Hash: "0011",
			Machine: host, Kind: history.Gate}
		for _, name := range []string{"cpu_per_request", "rss"} {
			r.Figures = append(r.Figures, history.Figure{Metric: name, Unit: "ns", Value: v, Low: math.NaN(), High: math.NaN()})
		}
		if _, err := store.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var text strings.Builder
	c := comparison{ctx: t.Context(), store: store, progress: cli.NewProgress(&text), rules: verify.Rules{Metrics: verify.Metrics(false)},
		header: session.Header{Host: host}, now: baseline.Circumstances{Hash: "0011"}}
	c.lasting()
	const want = "cpu_per_request has been worse since beef0005 (+10.0 %), over 9 commits"
	if got := text.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) {
		t.Errorf("got %q", got)
	}
}

func exitCode(err error) int {
	if err == nil {
		return cli.ExitOK
	}
	code, _ := cli.ExitOf(err)
	return code
}
