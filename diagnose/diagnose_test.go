package diagnose_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

func cause(id string, roots ...string) diagnose.Cause {
	return diagnose.Cause{ID: id, Title: "The " + id, Doc: "d", Remedy: "r", FollowsFrom: roots}
}

// finds is an analyzer that always makes the same finding.
func finds(name string, c diagnose.Cause, gain float64, trust findings.Confidence, after ...string) diagnose.Analyzer {
	return diagnose.Analyzer{
		Name: name, Doc: "d", Causes: []diagnose.Cause{c}, After: after,
		Run: func(*diagnose.Pass) ([]diagnose.Finding, error) {
			return []diagnose.Finding{{
				Cause: c.ID, Title: "found " + c.ID, Share: 0.5, ShareOf: diagnose.OfRequest, GainCeiling: gain, Confidence: trust,
				Remedy: "r", Evidence: []findings.Evidence{diagnose.Fact(diagnose.FromTrace, 1, "1", "figure of %s", c.ID)},
			}}, nil
		},
	}
}

func TestValidateTellsWhatIsWrong(t *testing.T) {
	ok := finds("a", cause("x"), 2, findings.High)
	for _, c := range []struct {
		name  string
		suite []diagnose.Analyzer
		want  string
	}{
		{"same name", []diagnose.Analyzer{ok, finds("a", cause("y"), 2, findings.High)}, "two analyzers are called a"},
		{"same cause", []diagnose.Analyzer{ok, finds("b", cause("x"), 2, findings.High)}, "both name the cause x"},
		{"no name", []diagnose.Analyzer{finds("", cause("x"), 2, findings.High)}, "has no name"},
		{"no function", []diagnose.Analyzer{{Name: "a", Doc: "d", Causes: []diagnose.Cause{cause("x")}}}, "lacks"},
		{"undocumented cause", []diagnose.Analyzer{finds("a", diagnose.Cause{ID: "x"}, 2, findings.High)}, "not fully documented"},
		{"unknown need", []diagnose.Analyzer{{Name: "a", Doc: "d", Causes: []diagnose.Cause{cause("x")}, Needs: []diagnose.Need{"luck"}, Run: ok.Run}}, "luck"},
		{"unknown predecessor", []diagnose.Analyzer{finds("a", cause("x"), 2, findings.High, "ghost")}, "ghost"},
		{"unknown root", []diagnose.Analyzer{finds("a", cause("x", "ghost"), 2, findings.High)}, "follows from ghost"},
		{"circle", []diagnose.Analyzer{finds("a", cause("x"), 2, findings.High, "b"), finds("b", cause("y"), 2, findings.High, "a")}, "cycle"},
	} {
		err := diagnose.Validate(c.suite)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
	if err := diagnose.Validate([]diagnose.Analyzer{ok}); err != nil {
		t.Error(err)
	}
}

func TestRanking(t *testing.T) {
	voids, qualifies := cause("void"), cause("qualifies")
	grows := cause("grows")
	voids.Voids, qualifies.Qualifies, grows.Grows = true, true, true
	ExpectAll(t, []diagnose.Analyzer{
		finds("last", qualifies, 9, findings.High),
		finds("hint", cause("hint"), 2, findings.Low),
		finds("small", cause("small"), 1.5, findings.High),
		finds("nothing", cause("nothing"), 1.01, findings.High),
		finds("tuning", cause("tuning"), 1.2, findings.High),
		finds("growing", grows, 1, findings.High),
		finds("large", cause("large"), 3, findings.High),
		finds("first", voids, 1, findings.High),
	}, Idle(), "void", "large", "small", "hint", "grows", "tuning", "qualifies")
}

// A consequence is part of its root's finding, unless the root promises less than the
// square root of it or is only a hint.
func TestConsequencesAreFolded(t *testing.T) {
	queue := func(gain float64) diagnose.Analyzer {
		return finds("queue", cause("queue", "root"), gain, findings.High)
	}
	root := func(gain float64, trust findings.Confidence) diagnose.Analyzer {
		return finds("root", cause("root"), gain, trust)
	}
	found := ExpectAll(t, []diagnose.Analyzer{queue(2), root(3, findings.High)}, Idle(), "root")
	if len(found) == 1 && (!strings.Contains(found[0].Title, ", so the queue (50 % of request time)") ||
		len(found[0].Evidence) != 2 || len(found[0].Rejected) != 1) {
		t.Errorf("the consequence is not told: %+v", found[0])
	}
	ExpectAll(t, []diagnose.Analyzer{queue(1.01), root(3, findings.High)}, Idle(), "root")
	ExpectAll(t, []diagnose.Analyzer{queue(4), root(2.1, findings.High)}, Idle(), "root")
	ExpectAll(t, []diagnose.Analyzer{queue(4), root(1.9, findings.High)}, Idle(), "queue", "root")
	ExpectAll(t, []diagnose.Analyzer{queue(40), root(3.5, findings.High)}, Idle(), "queue", "root") // near the pole
	ExpectAll(t, []diagnose.Analyzer{queue(2), root(3, findings.Low)}, Idle(), "queue", "root")
}

// In a single queue waiting grows as ρ/(1-ρ): who takes 60 % of a service's CPU is the root of a queue for the
// CPUs that promises more than that share does, where they are used.
func TestRunQueueFollowsFromWhatTakesTheCPU(t *testing.T) {
	runnable := cause("queue", "root")
	runnable.RunQueue = true
	takes := finds("root", cause("root"), 1.5, findings.Medium)
	takes.Run = func(*diagnose.Pass) ([]diagnose.Finding, error) {
		return []diagnose.Finding{{Cause: "root", Title: "found root", Share: 0.6, ShareOf: diagnose.OfCPU, GainCeiling: 1.5,
			Confidence: findings.Medium, Remedy: "r",
			Evidence: []findings.Evidence{diagnose.Fact(diagnose.FromProfile, 1, "1", "figure")}}}, nil
	}
	suite := []diagnose.Analyzer{finds("queue", runnable, 2.4, findings.High), takes}
	ExpectAll(t, suite, Idle().CPU(2, 1.4, 1, 0.4, 0), "root")
	ExpectAll(t, suite, Idle().CPU(2, 0.2, 0.1, 0.1, 0), "queue", "root")
}

// What a closure does is on the way through the function around it, and nothing that another function does is.
func TestClosureIsOnTheWayThroughItsFunction(t *testing.T) {
	queue := finds("queue", cause("queue", "root"), 2, findings.High)
	run := queue.Run
	queue.Run = func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		p.Reached("queue", []string{"shop/users.find", "shop/api.(*API).Recover"})
		return run(p)
	}
	at := func(function string) diagnose.Analyzer {
		a := finds("root", cause("root"), 3, findings.High)
		run := a.Run
		a.Run = func(p *diagnose.Pass) ([]diagnose.Finding, error) {
			found, err := run(p)
			found[0].Where.Function = function
			return found, err
		}
		return a
	}
	ExpectAll(t, []diagnose.Analyzer{queue, at("shop/api.(*API).Recover.func1")}, Idle(), "root")
	ExpectAll(t, []diagnose.Analyzer{queue, at("shop/api.(*API).Report.func1")}, Idle(), "root", "queue")
}

// An analyzer that fails leaves its causes not judged and does not affect the others.
func TestFailureIsNotHealth(t *testing.T) {
	fails := finds("fails", cause("x"), 2, findings.High)
	fails.Run = func(*diagnose.Pass) ([]diagnose.Finding, error) { return nil, errors.New("torn profile") }
	rec, a := Idle().Open(t)
	out, err := diagnose.Run(rec, a, []diagnose.Analyzer{fails, finds("b", cause("y"), 2, findings.High)})
	if err != nil || len(out.Findings) != 1 || len(out.NotJudged) != 1 || !strings.Contains(out.NotJudged[0].Why, "torn profile") {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := diagnose.Run(nil, nil, nil); err == nil {
		t.Error("a missing record is judged")
	}
}

// Without data every cause is reported as not judged, none as found.
func TestNothingObserved(t *testing.T) {
	empty := New(64, 10*time.Millisecond)
	rec, a := empty.Open(t)
	out, err := diagnose.Run(rec, a, suite.All())
	if err != nil || len(out.Findings) != 0 {
		t.Fatalf("%+v, %v", out.Findings, err)
	}
	unjudged := map[string]bool{}
	for _, n := range out.NotJudged {
		if n.Why == "" || unjudged[n.Cause] {
			t.Errorf("%s is not judged twice or without reason", n.Cause)
		}
		unjudged[n.Cause] = true
	}
	// These need only load, of which there was some.
	judged := map[string]bool{"generator-saturated": true, "cold-start": true}
	for _, analyzer := range suite.All() {
		for _, c := range analyzer.Causes {
			if unjudged[c.ID] == judged[c.ID] {
				t.Errorf("%s: not judged is %v", c.ID, unjudged[c.ID])
			}
		}
	}
}

// The same bundle gives the same findings, when repeated and on another machine.
func TestReplay(t *testing.T) {
	rec, a := Healthy().Sample(9*time.Second, "encoding/json.Marshal", Route).Open(t)
	first, err := diagnose.Run(rec, a, suite.All())
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := diagnose.Run(rec, a, suite.All())
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Fatalf("a replay differs: %v", err)
		}
	}
}

// runWith judges a fixture with one function in a Pass.
func runWith(t *testing.T, b *Builder, f func(*diagnose.Pass)) {
	t.Helper()
	rec, a := b.Open(t)
	probe := finds("probe", cause("x"), 1, findings.High)
	probe.Run = func(p *diagnose.Pass) ([]diagnose.Finding, error) { f(p); return nil, nil }
	if _, err := diagnose.Run(rec, a, []diagnose.Analyzer{probe}); err != nil {
		t.Fatal(err)
	}
}

func TestGains(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.02 }
	runWith(t, Healthy(), func(p *diagnose.Pass) {
		if g := p.WaitGain(0.9); g != 1 {
			t.Errorf("a wait on a saturated host gains %v", g)
		}
		// 0.98 of 1.9 CPUs in use are the service's.
		if g := p.CPUGain(0.5); !near(g, 1/(1-0.5*0.98/1.9)) {
			t.Errorf("half of the service's CPU gains %v", g)
		}
	})
	runWith(t, Idle(), func(p *diagnose.Pass) {
		if g := p.WaitGain(0.5); !near(g, 2) {
			t.Errorf("half of the latency of an open loop gains %v", g)
		}
		if g, on := p.CPUGain(0.5), p.Waits().OnCPU(); !near(g, 1/(1-0.5*on)) {
			t.Errorf("half of the CPU gains %v with %v of the request on a CPU", g, on)
		}
	})
	runWith(t, New(64, 40*time.Millisecond).CPU(2, 0.5, 0.2, 0.1, 0.1), func(p *diagnose.Pass) {
		if g := p.WaitGain(0.9); !near(g, 1.9/0.4) { // 0.1 CPUs are other programs'
			t.Errorf("a wait on a host that is a quarter busy gains %v", g)
		}
	})
	if diagnose.Ceiling(0) != 1 || diagnose.Ceiling(math.NaN()) != 1 || diagnose.Ceiling(1) != 50 || !near(diagnose.Ceiling(0.5), 2) {
		t.Error("Amdahl's bound is off")
	}
}

// Profiles come from outside: torn ones, bombs and foreign ones are errors.
func TestProfilesAreBounded(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 70 {
		z.Write(zeros)
	}
	z.Close()
	for name, data := range map[string][]byte{
		"torn gzip": {0x1f, 0x8b, 8, 0}, "HTML": []byte("<html>not found</html>"), "bomb": bomb.Bytes(), "empty": {},
	} {
		runWith(t, Idle().NoProfile("cpu").Raw("cpu", data), func(p *diagnose.Pass) {
			if _, err := p.Profile("cpu", "cpu"); err == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
	runWith(t, Idle(), func(p *diagnose.Pass) {
		if _, err := p.Profile("cpu", "bananas"); err == nil {
			t.Error("a sample type that is not there is found")
		}
		if _, err := p.Profile("heap", "inuse_space"); err == nil {
			t.Error("a profile that was not taken is found")
		}
	})
}

func FuzzProfile(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte("<html>"), true)
	f.Fuzz(func(t *testing.T, data []byte, zip bool) {
		if len(data) > 1<<16 {
			t.Skip("larger than the fuzzer's bound")
		}
		if zip {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write(data)
			z.Close()
			data = b.Bytes()
		}
		measured.ParseProfile(data)
	})
}

func TestCoincidence(t *testing.T) {
	p99 := series.Labels("q", "p99")
	slow := func(w int) bool { return w%17 == 5 }
	latency := func(w int) float64 {
		if slow(w) {
			return 90e6
		}
		return 10e6
	}
	with := func(w int) float64 {
		if slow(w) {
			return 5e6
		}
		return 0
	}
	against := func(w int) float64 { return float64(w%7) * 1e6 }
	b := Idle().Series(series.LoadLatency, p99, latency).Series(series.CgroupThrottled, "", with).Series(series.PressureCPU, "", against)
	runWith(t, b, func(p *diagnose.Pass) {
		if c := p.Coincide(series.CgroupThrottled, ""); c.Chance > 0.01 || c.InSlow <= c.Elsewhere || c.Slow != 6 {
			t.Errorf("what rises in slow windows: %+v", c)
		}
		if c := p.Coincide(series.PressureCPU, ""); c.Chance < 0.05 {
			t.Errorf("what has nothing to do with them: %+v", c)
		}
		if c := p.Coincide(series.PressureIO, ""); c.Chance != 1 {
			t.Errorf("what was not recorded: %+v", c)
		}
	})
}
