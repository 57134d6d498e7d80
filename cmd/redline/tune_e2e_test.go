package main

// redline tune through the built command: refusals, values that the service does not
// survive, and an interrupt.

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/tune"
	tuning "github.com/redline-go/redline/tune/measure"
)

func TestTuneRefuses(t *testing.T) {
	const url = "http://127.0.0.1:9/"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{url, "--exec", "true"}, "no knob to turn"},
		{[]string{url, "--exec", "true", "--knob", "gogc=50..400"}, `unknown knob "gogc" (hint: GOGC)`},
		{[]string{url, "--exec", "true", "--knob", "somaxconn=128..4096"}, `unknown knob "somaxconn"`},
		{[]string{url, "--exec", "true", "--knob", "GOGC=400..50"}, "is not a range from a low value to a high one"},
		{[]string{url, "--exec", "true", "--knob", "env:API_TOKEN=a,b"}, "named like a secret"},
		{[]string{url, "--exec", "true", "--knob", "GOGC=50..400", "--knob", "GOGC=1,2"}, "given twice"},
		{[]string{url, "--exec", "true", "--knob", "GOGC=50..400", "--objective", "p99"}, "in a closed loop"},
		{[]string{url, "--exec", "true", "--knob", "GOGC=50..400", "--rate", "9/s", "--objective", "throughput"}, "the rate determines the throughput"},
		{[]string{url, "--exec", "true", "--knob", "GOGC=50..400", "--guard", "p99 > 5ms"}, "a guard is an upper limit"},
		{[]string{url, "--exec", "true", "--knob", "GOGC=50..400", "-d", "5s"}, "--duration does not apply"},
		{[]string{url, "--exec", "true", "--knob", "GOGC=50..400", "--warmup", "5s"}, "--warmup does not apply"},
		{[]string{url, "--exec", "true", "--knob", "GOGC=50..400", "--threshold", "p99 < 5ms"}, "--threshold does not apply"},
		{[]string{url, "--exec", "true", "--pgo"}, "has no target.build"},
		{[]string{url, "--knob", "GOGC=50..400"}, "names no target to launch"},
		{[]string{url, "--exec", "true", "--knob", "GOGC=50..400", "--resume"}, "no tune to resume"},
	} {
		var out, errs strings.Builder
		if code := execute(t.Context(), append([]string{"tune"}, c.args...), &out, &errs); code != cli.ExitUsage ||
			!strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: exit %d without %q: %s", c.args, code, c.want, errs.String())
		}
	}
}

// TestTuneSurvives: values with which the service ends or fails its requests are reported, and
// the present value is kept.
func TestTuneSurvives(t *testing.T) {
	t.Parallel()
	s := newStall(t)
	r := finish(t, s.begin(t, "tune", "shop.yaml", "--knob", "env:MODE=crash,some", "--trials", "2", "--json",
		"-o", "runs/tune", "--history", "history.db"))
	var out tune.Result
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || r.code != cli.ExitOK {
		t.Fatalf("exit %d, %v: %.300s\n%s", r.code, err, r.stdout, r.stderr)
	}
	if out.Verdict != tune.Keep || !strings.Contains(out.Why, "no other setting served") || len(out.Lines) > 0 || len(out.Measured) != 2 {
		t.Errorf("%s: %s, %v", out.Verdict, out.Why, out.Measured)
	}
	kept := invokeIn(t, s.dir, "history", "trials", "--history", "history.db")
	for _, want := range []string{"tune of shop", "KEEP: keep what you have: no other setting served", "env:MODE=crash  failed"} {
		if !strings.Contains(kept.stdout, want) {
			t.Errorf("the history has no %q:\n%s%s", want, kept.stdout, kept.stderr)
		}
	}
	for _, m := range out.Measured {
		if m.Out == "" {
			t.Errorf("%v is not out", m.Values)
		}
	}
	s.left(t, r)
}

func TestTuneInterrupted(t *testing.T) {
	t.Parallel()
	s := newStall(t)
	invocation := s.begin(t, "tune", "shop.yaml", "--knob", "GOGC=50..400", "--knob", "GOMAXPROCS=1..2", "-o", "runs/tune")
	trials := filepath.Join(s.dir, "runs", "tune", tuning.TrialsFile)
	await(t, "trial", func() bool {
		data, _ := os.ReadFile(trials)
		return strings.Count(string(data), "\n") >= 2
	})
	if err := invocation.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	r := finish(t, invocation)
	if r.code != cli.ExitInterrupted || !strings.Contains(r.stderr, "-o runs/tune --resume") ||
		!strings.HasPrefix(r.stdout, "INTERRUPTED: ") {
		t.Errorf("exit %d: %.300s\n%s", r.code, r.stdout, r.stderr)
	}
	if strings.Contains(r.stdout, "RECOMMEND") {
		t.Errorf("an interrupted tune recommends something:\n%s", r.stdout)
	}
	s.left(t, r)
}
