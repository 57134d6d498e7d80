//go:build linux

package main

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// becomeInTest makes the test's binary become another program, as the bench's does.
const becomeInTest = "REDLINE_TEST_BECOME"

func TestMain(m *testing.M) {
	if what := os.Getenv(becomeInTest); what != "" {
		os.Stderr.WriteString(becomes(strings.Split(what, " ")).Error())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestBecomes: the service runs with the factor fixed, as the kernel says.
func TestBecomes(t *testing.T) {
	for _, c := range []struct{ factor, file, want string }{
		{"nothing", "/proc/self/personality", "00000000"},
		{"layout", "/proc/self/personality", "00040000"},
		{"pages", "/proc/self/status", "THP_enabled:\t0"},
		{"cpu", "/proc/self/status", "\nCpus_allowed_list:\t"},
		{"unheard-of", "/proc/self/status", `no factor "unheard-of"`},
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), becomeInTest+"="+c.factor+" /bin/cat "+c.file)
		out, err := cmd.CombinedOutput()
		if (err != nil) != strings.HasPrefix(c.want, "no factor") || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v, %s; want %q", c.factor, err, out, c.want)
		}
		if _, list, ok := strings.Cut(string(out), c.want); c.factor == "cpu" && ok {
			if cpus, _, _ := strings.Cut(list, "\n"); strings.ContainsAny(cpus, ",-") {
				t.Errorf("one CPU are %s", cpus)
			}
		}
	}
}

// TestFactorWraps: the bench becomes the service with the factor, and the service keeps its arguments and environment.
func TestFactorWraps(t *testing.T) {
	plan := &scenario.Plan{}
	plan.Target.Args, plan.Target.Env = []string{"-addr", ":1"}, map[string]string{"A": "1"}
	s := factors[4].with(session.Side{Name: "one", Plan: plan, Binary: "/svc"}, "/bench")
	if got := strings.Join(s.Plan.Target.Args, " "); s.Binary != "/bench" || got != become+" heap /svc -addr :1" {
		t.Errorf("%s %s", s.Binary, got)
	}
	if e := s.Plan.Target.Env; e["A"] != "1" || e["GOGC"] != "off" || plan.Target.Env["GOGC"] != "" {
		t.Errorf("environment %v, the service's own %v", e, plan.Target.Env)
	}
}

// drawnLaunches are pairs of identical sides of known components, of a level in ns.
func drawnLaunches(n int, level, launch, turn float64) (out []launched) {
	rng := rand.New(rand.NewPCG(uint64(n), 9))
	side := func() (turns []float64) {
		own := launch * rng.NormFloat64()
		for range 20 {
			turns = append(turns, level*math.Exp(own+turn*rng.NormFloat64()))
		}
		return turns
	}
	for i := range n {
		out = append(out, launched{A: side(), B: side(), BFirst: i%2 == 0, Took: 7})
	}
	return out
}

// TestLaunchTable: the components of all sessions' pairs without what the sides differ by, and a factor's effect, are in the tables.
func TestLaunchTable(t *testing.T) {
	slow := trial{Kind: "slow5", Service: gatewayService, Launches: drawnLaunches(200, 2e5, 0.02, 0.1)}
	fast := trial{Kind: "fast5", Service: gatewayService, Launches: drawnLaunches(150, 2e5, 0.02, 0.1)}
	for list, by := range map[*[]launched]float64{&slow.Launches: 1.3, &fast.Launches: 0.7} {
		for _, l := range *list {
			for j := range l.B {
				l.B[j] *= by // would be taken for launches that differ
			}
		}
	}
	r := &results{Sessions: []trial{slow, fast}, Fixed: []fixedRun{
		{Factor: "nothing", Service: gatewayService, Launches: drawnLaunches(40, 2e5, 0.02, 0.1)},
		{Factor: "cpu", Service: gatewayService, Launches: drawnLaunches(41, 1.6e5, 0.001, 0.05)},
	}}
	pairs := r.centred(gatewayService)
	low, high := launchInterval(pairs)
	c, _ := verify.EstimateComponents(pairs)
	if len(pairs) != 350 || !(low < 0.02 && 0.02 < high) || high-low > 0.02 || c.Launch > 0.03 {
		t.Errorf("%d pairs, launch %.3f (%.3f to %.3f), drawn with 0.02", len(pairs), c.Launch, low, high)
	}
	var b strings.Builder
	r.writeLaunches(&b)
	rows := []string{"| gateway | 350 | ", "| gateway | the service on one CPU | 41 | -20.", "| gateway | nothing | 40 | - |"}
	for _, want := range rows {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the tables lack %q:\n%s", want, b.String())
		}
	}
}

// TestGroupsCountTogether: the plain services' sessions make one mark, half of them each.
func TestGroupsCountTogether(t *testing.T) {
	sessions := func(service string, n int) (out []trial) {
		for i := range n {
			verdict := verify.Regression
			if i == 0 {
				verdict = verify.Pass
			}
			s := drawnTrial("slow3", verdict, 0.03, 100)
			s.Service = service
			out = append(out, s)
		}
		return out
	}
	half := wantedReal[3]
	r := &results{Sessions: append(sessions("hello", 10), sessions("json", 10)...)}
	if m := r.realMark("plain", services[1:], half); m.verdict() != "met" || m.got != "18 of 20 (hello 9 of 10, json 9 of 10)" {
		t.Errorf("%s: %s", m.got, m.verdict())
	}
	r.Sessions = sessions("hello", 20)
	m := r.realMark("plain", services[1:], half)
	if m.verdict() != "not measured in full" || m.got != "19 of 20 (hello 19 of 20, json none)" {
		t.Errorf("without a session of json: %s: %s", m.got, m.verdict())
	}
}
