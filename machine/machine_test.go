package machine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// drawn is a baseline with rounds of every figure around 1,000, some changed by a factor.
func drawn(seed uint64, rounds int, spread float64, factors map[string]float64) *Baseline {
	rng := rand.New(rand.NewPCG(seed, 1))
	var all []Round
	for range rounds {
		r := Round{Values: map[string]float64{}}
		for _, f := range figures {
			factor := 1.0
			if v, ok := factors[f.name]; ok {
				factor = v
			}
			r.Values[f.name] = 1000 * factor * math.Exp(spread*rng.NormFloat64())
		}
		all = append(all, r)
	}
	b := described()
	b.collect(all)
	return b
}

// TestFalseAlarms: without any margin to speak of, baselines of unchanged machines drift in
// about one of a hundred comparisons.
func TestFalseAlarms(t *testing.T) {
	alarms := 0
	const comparisons = 400
	for i := range uint64(comparisons) {
		if len(drifted(Compare(drawn(2*i, 20, 0.1, nil), drawn(2*i+1, 20, 0.1, nil), 1e-9))) > 0 {
			alarms++
		}
	}
	if alarms > 12 { // of 4 expected; more in one of thousands of tests
		t.Errorf("%d of %d comparisons drift", alarms, comparisons)
	}
}

// TestDrift: a fifth less on all CPUs is found, in the right direction, and nothing else.
func TestDrift(t *testing.T) {
	const name = "all CPUs, fibonacci(20)"
	base, now := drawn(1, 12, 0.04, nil), drawn(2, 12, 0.04, map[string]float64{name: 0.8, "sha256": 1.3})
	for _, d := range Compare(base, now, 0) {
		want := d.Name == name || d.Name == "sha256"
		if (d.Verdict == Drifted) != want || d.Worse != (d.Name == name) {
			t.Errorf("%s: %+v", d.Name, d)
		}
	}
	r := &Report{Baseline: now}
	r.Against(base, "before.json", 0)
	if !r.Drifted() || !strings.Contains(r.Conclusion(), name+" -") {
		t.Error(r.Conclusion())
	}
	r.Host.CPUs++
	r.Against(base, "before.json", 0)
	if r.Drifted() || !strings.Contains(r.Conclusion(), "another machine") {
		t.Errorf("another machine drifted: %s", r.Conclusion())
	}
}

// TestQuotaIsDrift even where figures do not show it.
func TestQuotaIsDrift(t *testing.T) {
	base, now := drawn(1, 12, 0.04, nil), drawn(2, 12, 0.04, nil)
	r := &Report{Baseline: now}
	r.Against(base, "before.json", 0)
	if r.Drifted() {
		t.Error(r.Conclusion())
	}
	quota, much := 1.6, 0.04
	now.Quota, now.Throttled, now.Steal = &quota, &much, &much
	r.Against(base, "before.json", 0)
	if want := "CPU quota from none to 1.6 CPUs"; !r.Drifted() || !strings.Contains(r.Conclusion(), want) {
		t.Errorf("%s, want %s", r.Conclusion(), want)
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"warning: throttled: a control group allows 1.6 CPUs", "(steal)", "memory and GC",
		"12 rounds"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestMissing: a figure that one side lacks is not judged, and too few rounds are nothing.
func TestMissing(t *testing.T) {
	base, now := drawn(1, 12, 0.04, nil), drawn(2, 3, 0.04, nil)
	base.Figures = base.Figures[1:]
	for _, d := range Compare(base, now, 0) {
		if d.Verdict != NotJudged {
			t.Errorf("%s: %s", d.Name, d.Verdict)
		}
	}
}

// TestTooFewRounds: one round in a moment is no baseline, and its error says so; what a round cannot do is another.
func TestTooFewRounds(t *testing.T) {
	for command, few := range map[string]bool{"echo {}": true, "false": false} {
		_, err := Session(t.Context(), Options{Time: 1, Command: strings.Fields(command)})
		if err == nil || errors.Is(err, ErrTooFew) != few {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// TestKilledRound: a round that was killed leaves nothing on the disk that it measured, and other sessions keep their files.
func TestKilledRound(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, ".redline-1-2")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	round := fmt.Sprintf("touch '%s'/.redline-$$-1; kill -9 $$", dir)
	if _, err := Session(t.Context(), Options{Time: 1, Disk: dir, Command: []string{"sh", "-c", round}}); err == nil {
		t.Fatal("no error")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 1 || left[0] != other {
		t.Errorf("left: %v", left)
	}
}

func TestKept(t *testing.T) {
	dir := t.TempDir()
	b := drawn(1, 12, 0.04, nil)
	path, err := b.Save(dir)
	if err != nil {
		t.Fatal(err)
	}
	other := drawn(3, 12, 0.04, nil)
	other.Begun, other.Go = b.Begun.AddDate(0, 0, 1), "go1.1"
	if _, err := other.Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "machine-9.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, at := Newest(dir); at != path || len(found.Figures) != len(b.Figures) {
		t.Errorf("%s is the newest of this machine and toolchain, want %s", at, path)
	}
	for text, want := range map[string]string{`{"schema":"redline.baseline/1"}`: "its schema",
		fmt.Sprintf(`{"schema":%q,"figures":[{"name":"x","rounds":[-1]}]}`, Schema): "a value of -1", "[": "unexpected end"} {
		bad := filepath.Join(dir, "bad.json")
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
