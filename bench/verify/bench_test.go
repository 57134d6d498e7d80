//go:build linux

package main

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/verify"
)

// drawnPairs are pairs whose side b takes so much more CPU.
func drawnPairs(n int, slower float64) (out []verify.Pair) {
	rng := rand.New(rand.NewPCG(uint64(n), 4))
	block := func(factor float64) verify.Block {
		noise := math.Exp(0.03 * rng.NormFloat64())
		return verify.Block{Values: map[string]float64{"cpu_per_request": 200e3 * factor * noise, "throughput": 5000 / noise}}
	}
	for range n {
		out = append(out, verify.Pair{A: block(1), B: block(1 + slower)})
	}
	return out
}

func drawnTrial(kind string, verdict verify.Verdict, slower, seconds float64) trial {
	r := verify.Result{Verdict: verdict, Pairs: 30, Looks: 4, Planned: 4, Metrics: []verify.MetricResult{
		{Name: decides, Verdict: verdict, A: 1, Estimate: slower}, {Name: "p50", Advisory: true},
	}}
	t := newTrial(kind, r, time.Duration(seconds*float64(time.Second)), drawnPairs(8, 0), drawnPairs(30, slower))
	t.Most, t.Service = 30, gatewayService
	return t
}

// TestMarks: a miss is reported as one, and too few sessions are not a success.
func TestMarks(t *testing.T) {
	r := &results{Machines: []machine{{}}, Simulated: []simulation{{Noise: drawnNoise, Sessions: 500,
		Verdicts: map[verify.Verdict]int{verify.Regression: 6, verify.Pass: 494}}}}
	for i := range 20 {
		r.Sessions = append(r.Sessions, drawnTrial("aa", verify.Pass, 0, 200))
		seconds := 150.0
		if i < 2 {
			seconds = 306 // found too late
		}
		r.Sessions = append(r.Sessions, drawnTrial("slow5", verify.Regression, 0.05, seconds))
		r.Sessions = append(r.Sessions, drawnTrial("slow10", verify.Regression, 0.1, 150))
		if i > 0 {
			r.Sessions = append(r.Sessions, drawnTrial("slow3", verify.Inconclusive, 0.03, 300))
		}
	}
	r.Sessions = append(r.Sessions, drawnTrial("fast5", verify.Regression, -0.05, 100))
	missed, partly, met := "**missed**", "not measured in full", "met"
	// The one session that is 5 % faster is a regression, so that one mark is lost already and the other can still be met.
	want := []string{missed, met, met, met, missed, missed, missed, missed, partly}
	for i, m := range r.marks() {
		switch {
		case i < len(want):
			if m.verdict() != want[i] {
				t.Errorf("%s: %s is %s, want %s", m.what, m.got, m.verdict(), want[i])
			}
		case strings.HasPrefix(m.what, "plain services"):
			if m.verdict() != partly {
				t.Errorf("%s without sessions is %s", m.what, m.verdict())
			}
		}
	}
	text := r.markdown("verify.json")
	for _, part := range []string{"6 of 500", "18 of 20", "0 of 19", "0 of 40, and 40 an improvement",
		"## Gateway, side b 5 % slower: 20 sessions"} {
		if !strings.Contains(text, part) {
			t.Errorf("the tables lack %q:\n%s", part, text)
		}
	}
}

// TestMachines: no two machines share a name, however many there are, and one without a session takes none.
func TestMachines(t *testing.T) {
	r := &results{Machines: make([]machine, 30)}
	for i := range r.Machines {
		if i != 1 {
			s := drawnTrial("aa", verify.Pass, 0, 100)
			s.Machine = i
			r.Sessions = append(r.Sessions, s)
		}
	}
	for machine, want := range map[int]string{0: "A", 2: "B", 26: "Z", 27: "AA", 29: "AC"} {
		if got := r.letter(machine); got != want {
			t.Errorf("machine %d is named %s, want %s", machine, got, want)
		}
	}
	if text := r.markdown("verify.json"); strings.Count(text, "Machine A:") != 1 || !strings.Contains(text, "Machine AC:") {
		t.Errorf("the machines of the page:\n%s", text)
	}
}

// TestAdd: what a file holds is gone on with, and what does not belong to it is
// refused.
func TestAdd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "verify.json")
	o, err := parse([]string{"-o", file, "-add"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r, err := openResults(o)
	if err != nil || !r.empty() {
		t.Fatalf("a file that is not there: %+v, %v", r, err)
	}
	r.setWork(gatewayService, work{Rounds: 7})
	r.Sessions = []trial{drawnTrial("aa", verify.Pass, 0, 100)}
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	md := benchmark.Table(file)
	text, err := os.ReadFile(md)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(md, []byte(strings.Replace(string(text), "None yet.", "Seen by hand.", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := openResults(o)
	if err != nil || len(again.of("", "aa")) != 1 || again.work(gatewayService).Rounds != 7 || len(again.Machines) != 1 ||
		len(pairs(again.Sessions[0].Compared)) != 30 {
		t.Fatalf("gone on with: %+v, %v", again, err)
	}
	if err := again.write(file); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(md); err != nil || !strings.Contains(string(text), "Seen by hand.") {
		t.Errorf("a remark was lost: %v", err)
	}
	again.Machines[0].Host.CPUModel = "another processor"
	if err := again.write(file); err != nil {
		t.Fatal(err)
	}
	if r, err := openResults(o); err != nil || len(r.Machines) != 2 || r.work(gatewayService).Rounds != 0 || r.Sessions[0].Machine != 0 {
		t.Errorf("sessions of another machine: %+v, %v", r, err)
	}
	o.maxTime = time.Hour
	if _, err := openResults(o); err == nil || !strings.Contains(err.Error(), "-max-time") {
		t.Errorf("sessions of another length were joined: %v", err)
	}
}

// TestDamagedRecordings: turns that are of no pair, or missing, are refused with the file's name.
func TestDamagedRecordings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "verify.json")
	o, err := parse([]string{"-o", file, "-add"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	const whole = `{"schema":"redline.verify-bench/5","max_time":"5m0s","noise":[{"rows":[[1,2,3,4],[2,3,4]],` +
		`"launches":[{"a":[1],"b":[2],"seconds":1},{"a":[1],"b":[2],"seconds":1}]}]}`
	for text, refused := range map[string]bool{whole: false, strings.Replace(whole, `,{"a":[1],"b":[2],"seconds":1}`, "", 1): true} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := openResults(o)
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v, want it refused: %v", text, err, refused)
		}
		if err == nil {
			if got := r.together(); len(got) != 1 || got[0].Took != time.Second {
				t.Errorf("%s: %+v", text, got)
			}
		}
	}
}

// TestSimulate: sessions drawn from recorded noise find the change that is put
// in, and none without; both kinds of noise deviate as what was recorded.
func TestSimulate(t *testing.T) {
	recorded := [][]verify.Pair{drawnPairs(20, 0), drawnPairs(12, 0)}
	rng := rand.New(rand.NewPCG(4, 4))
	for _, list := range recorded {
		for i := range list {
			for _, b := range []*verify.Block{&list[i].A, &list[i].B} {
				for range 8 {
					b.Turns = append(b.Turns, b.Values[decides]*math.Exp(0.05*rng.NormFloat64()))
				}
			}
		}
	}
	drawn, err := model(slices.Concat(recorded...))
	if err != nil {
		t.Fatal(err)
	}
	for name, begin := range map[string]func() source{
		"recorded": func() source { return &replayed{recorded: recorded} },
		"drawn":    func() source { return drawn },
	} {
		for slower, want := range map[float64]verify.Verdict{0: verify.Pass, 0.20: verify.Regression, -0.20: verify.Improvement} {
			s := simulation{Slower: slower, Sessions: 4, Pairs: 24}
			if err := s.run(context.Background(), begin, 1); err != nil {
				t.Fatal(err)
			}
			if s.Verdicts[want] != 4 || s.Typical < 4 {
				t.Errorf("%s noise, %+.2f: %+v, want four times %s", name, slower, s, want)
			}
		}
		var many []verify.Pair
		for from := begin(); len(many) < 2000; {
			many = append(many, from.draw(rng))
		}
		if got, want := deviation(many), deviation(slices.Concat(recorded...)); math.Abs(got/want-1) > 0.25 {
			t.Errorf("%s noise deviates by %.3f, recorded were %.3f", name, got, want)
		}
	}
	if err := simulate(context.Background(), options{}, &results{}, func(string, ...any) {}); err == nil ||
		!strings.Contains(err.Error(), "-only noise") {
		t.Errorf("without recorded noise: %v", err)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-only", "slow7"}, {"-service", "redis"}, {"-sessions", "0"}, {"-max-time", "5s"}, {"more"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}
