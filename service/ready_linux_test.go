package service

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
)

// TestTargetThatAnswersElsewhere: the error names the addresses at which the target
// listens, even behind a shell, and says so when there are none.
func TestTargetThatAnswersElsewhere(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "svc")
	if err := Build(t.Context(), module(t, service), binary); err != nil {
		t.Fatal(err)
	}
	wanted, own := freeAddress(t), freeAddress(t)
	// Each target that stays writes a line when it is up, and the test waits until that line
	// was read: no deadline decides what is seen.
	dir := t.TempDir()
	for name, c := range map[string]struct {
		command string
		want    []string
	}{
		"elsewhere": {fmt.Sprintf("ADDR=%s %s & while ! (: < /dev/tcp/%s) 2>%s/null; do sleep 0.05; done; echo up >&2; "+
			"wait", own, binary, strings.Replace(own, ":", "/", 1), dir),
			[]string{"| up", "hint: it listens on " + own}},
		"nowhere": {"echo starting slowly >&2; exec sleep 600", []string{"| starting slowly", "hint: it listens nowhere"}},
		"done":    {"exit 0", []string{"ended before it was ready: exit status 0", "hint: it found nothing to do, or moved to the background"}},
		"silent":  {"exit 3", []string{"exit status 3", "hint: it wrote nothing to standard error: -v"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, wanted, scenario.Target{Exec: []string{"bash", "-c", c.command}, Dir: t.TempDir()})
			clock, p := o.Clock, startIn(t, o)
			if strings.HasPrefix(c.command, "exit") {
				<-p.done
				err := (&NotReady{What: "x", Exit: p.exit(clock)}).Error()
				contains(t, err, c.want)
				return
			}
			awaitLine(t, p, strings.TrimPrefix(c.want[0], "| "))
			contains(t, notReady(t.Context(), "connect", fmt.Errorf("refused"), o, p).Error(), c.want)
			// At the address itself it answers, but is not ready.
			for _, host := range []string{own, strings.Replace(own, "127.0.0.1", "localhost", 1)} {
				o.Target.Ready = "http://" + host + "/ready"
				hint := notReady(t.Context(), "GET "+o.Target.Ready, fmt.Errorf("answers 503"), o, p).Error()
				if strings.Contains(hint, "it listens on") {
					t.Errorf("sent to where it was asked: %s", hint)
				}
			}
		})
	}
}

func startIn(t *testing.T, o Options) *process {
	t.Helper()
	hide := (&scenario.Plan{Target: o.Target}).Redactor(nil)
	p, err := startProcess(o.Target.Exec, o.Target.Dir, nil, hide, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	return p
}

// awaitLine waits until that line of the target's standard error was read.
func awaitLine(t *testing.T, p *process, line string) {
	t.Helper()
	for tick := time.NewTicker(5 * time.Millisecond); !slices.Contains(p.tail.lines(), line); <-tick.C {
		if t.Context().Err() != nil {
			t.Fatalf("no %q in %q", line, p.tail.lines())
		}
	}
}

func contains(t *testing.T, text string, want []string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in: %s", part, text)
		}
	}
}
