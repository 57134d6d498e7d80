package suite_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/stacks"
)

// probeNamed returns the parts of findings that name redline's own probe: a place, a cause's
// evidence or an entry of the ledger.
func probeNamed(t *testing.T, found findings.Findings) bool {
	t.Helper()
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"redlineprobe", "control.(*Server)", "sampler.(*Loop)"} {
		if strings.Contains(string(text), name) {
			return true
		}
	}
	return false
}

// TestProbeIsNoPartOfTheService: every recorded fixture has goroutines of the probe, injected
// into the service's own module; no evidence holds any.
func TestProbeIsNoPartOfTheService(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixturesDir, "*"+corpus.PackExt))
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), corpus.PackExt), func(t *testing.T) {
			t.Parallel()
			rec, body := diagnosetest.Packed(file).Open(t)
			raw, err := stacks.Read(rec, "goroutine", "goroutine", nil)
			if err != nil {
				return // no dump shows whether there is a probe
			}
			if !hasProbe(raw.Samples) {
				t.Fatal("the fixture has no probe to leave out")
			}
			e := evidence.New(rec, body)
			for _, of := range [][2]string{{"cpu", "cpu"}, {"allocs", "alloc_space"}, {"heap", "inuse_space"},
				{"mutex", "delay"}, {"block", "delay"}, {"goroutine", "goroutine"}} {
				if prof, err := e.Profile(of[0], of[1]); err == nil && hasProbe(prof.Samples) {
					t.Errorf("its %s profile has the probe", of[0])
				}
			}
			shots, err := e.Snapshots()
			if err != nil {
				t.Error(err)
			}
			for _, s := range shots {
				if hasProbe(s.Stacks) {
					t.Errorf("its goroutines at %v are the probe's, too", s.At)
				}
			}
			for _, kind := range e.Waits().Kinds() {
				for _, site := range e.Waits().Sites(kind) {
					if code.Probe(site.Place) {
						t.Errorf("requests wait (%s) in %s", kind, site.Place.Function)
					}
				}
			}
		})
	}
}

func hasProbe(samples []stacks.Sample) bool {
	return slices.ContainsFunc(samples, func(s stacks.Sample) bool { return slices.ContainsFunc(s.Stack, code.Probe) })
}

// TestObservationIsCountedApart: 4 % of the process's CPU for the probe make a line of the ledger, and
// shares of CPU are of the rest; below 1 % there is no line.
func TestObservationIsCountedApart(t *testing.T) {
	run := func(probe time.Duration) (share float64, who string) {
		rec, body := diagnosetest.Healthy().
			Background(probe, "runtime.memmove", "shop/internal/redlineprobe/control.(*Server).trace",
				"shop/internal/redlineprobe/control.(*Server).serve").Open(t)
		found, err := diagnose.Run(rec, body, suite.All())
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, e := range found.Ledger.CPU {
			sum += e.Share
			if strings.HasPrefix(e.Who, "instrumentation") {
				share, who = e.Share, e.Who
			}
		}
		if sum < 0.999 || sum > 1.001 {
			t.Errorf("the ledger of CPU sums to %.3f", sum)
		}
		if probeNamed(t, found) {
			t.Error("the findings name the probe")
		}
		return share, who
	}
	if share, _ := run(time.Millisecond); share != 0 {
		t.Errorf("a share of %.4f has a line", share)
	}
	if share, who := run(4 * time.Second); !(share > 0.1) || !strings.Contains(who, "redline's probe") {
		t.Errorf("%q has %.3f", who, share)
	}
}
