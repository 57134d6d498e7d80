package decide

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// measured is a gate that is to store a baseline, with a session of ten pairs that is not finished.
func measured(t *testing.T, notes io.Writer) (*comparison, *session.Log) {
	t.Helper()
	dir := t.TempDir()
	c := &comparison{part: first, f: &compareFlags{saveBaseline: filepath.Join(dir, "base.json")}, ctx: t.Context(),
		progress: cli.NewProgress(notes), launcher: &session.Launcher{Repeated: 1},
		header: session.Header{A: "a", B: "b", Plan: []byte("{}")}}
	c.f.Out = filepath.Join(dir, "s")
	log, err := session.Create(c.f.Out, c.header)
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
	line := `{"kind":"ab","A":{"values":{"machine_yardstick":3e6}},"B":{"values":{"machine_yardstick":3e6}}}` + "\n"
	if err := os.WriteFile(filepath.Join(c.f.Out, "blocks.jsonl"), []byte(strings.Repeat(line, 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.f.resume = true
	if log, _, err = c.f.log(c.header); err != nil {
		t.Fatal(err)
	}
	return c, log
}

// TestBaselineOfTheCombinedVerdict: a version that regressed against the second base is not stored, although the first
// session passed.
func TestBaselineOfTheCombinedVerdict(t *testing.T) {
	for _, c := range []struct {
		second verify.Verdict
		code   int
		note   string
	}{
		{verify.Regression, cli.ExitFailed, "base.json is not written: the verdict is regression"},
		{verify.Pass, cli.ExitOK, "baseline of 10 launches saved in "},
	} {
		var notes bytes.Buffer
		one, log := measured(t, &notes)
		r, err := one.finish(verify.Result{Schema: verify.Schema, Verdict: verify.Pass}, log)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(one.f.saveBaseline); err == nil {
			t.Error("the baseline is stored before the second session")
		}
		if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "1 launch repeated") {
			t.Errorf("warnings %q", r.Warnings)
		}
		cmd := &cobra.Command{}
		cmd.SetOut(io.Discard)
		cmd.SetErr(&notes)
		r.Result = r.Also("v1", verify.Result{Verdict: c.second, Why: "x"})
		code := exitCode(one.f.conclude(cmd, r, "s.yaml"))
		_, err = os.Stat(one.f.saveBaseline)
		if code != c.code || (err == nil) != (c.second == verify.Pass) || !strings.Contains(notes.String(), c.note) {
			t.Errorf("second %s: exit code %d, %v\n%s", c.second, code, err, notes.String())
		}
	}
}

// TestBaselineOfNothing: gate --changed-only says that it stores none.
func TestBaselineOfNothing(t *testing.T) {
	var notes bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(io.Discard)
	cmd.SetErr(&notes)
	f := compareFlags{saveBaseline: filepath.Join(t.TempDir(), "base.json")}
	if err := f.conclude(cmd, compared{Result: verify.Unchanged("main")}, "s.yaml"); err != nil ||
		!strings.Contains(notes.String(), "base.json is not written: nothing was measured") {
		t.Errorf("%v, %q", err, notes.String())
	}
}

// TestFollowedSession: a gate that was interrupted in its second session takes over the result of the first.
func TestFollowedSession(t *testing.T) {
	for verdict, want := range map[verify.Verdict]error{verify.Pass: nil, verify.Invalid: session.ErrFinished} {
		one, log := measured(t, io.Discard)
		if _, err := one.finish(verify.Result{Schema: verify.Schema, Verdict: verdict}, log); err != nil {
			t.Fatal(err)
		}
		got, err := one.run(&session.Session{})
		if !errors.Is(err, want) || got.Verdict != verdict {
			t.Errorf("%s: %s, %v", verdict, got.Verdict, err)
		}
		if want == nil && (len(got.pairs) != 10 || got.launches == nil || len(got.launches.Blocks) != 10) {
			t.Errorf("%d pairs, baseline %+v", len(got.pairs), got.launches)
		}
		one.part = whole
		if _, err := one.run(&session.Session{}); !errors.Is(err, session.ErrFinished) {
			t.Errorf("a session that nothing follows: %v", err)
		}
	}
}
