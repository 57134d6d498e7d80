package measure

import (
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// searches is how many of a kind are simulated; docs/tuning.md has the figures of 20.
var searches = flag.Int("searches", 6, "simulate so many searches of a service that can be made better")

// target draws the blocks of a service whose surface is known: its launches deviate by sd,
// and one in twenty is hit by a neighbour.
type target struct {
	rng *rand.Rand
	sd  float64
	// value is the logarithm of the throughput in an environment.
	value func(env map[string]string) float64
	// change makes more of a block, or fails; nil leaves it as it is.
	change func(env map[string]string, b *verify.Block) error
	n      int
}

func (s *target) Measure(_ context.Context, side session.Side) (verify.Block, error) {
	s.n++
	v := s.value(side.Plan.Target.Env) + s.sd*s.rng.NormFloat64()
	if s.rng.IntN(20) == 0 {
		v -= 3 * s.sd * s.rng.Float64()
	}
	b := verify.Block{Values: map[string]float64{"throughput": 5000 * math.Exp(v), "rss": 60e6}}
	if s.change != nil {
		if err := s.change(side.Plan.Target.Env, &b); err != nil {
			return b, err
		}
	}
	return b, nil
}

// setTo is a variable of an environment, or what it has where it is not set.
func setTo(env map[string]string, name string, otherwise float64) float64 {
	if v, err := strconv.ParseFloat(env[name], 64); err == nil {
		return v
	}
	return otherwise
}

// slope is a service that gains from a larger pool up to a plateau, and a little from GOGC.
func slope(env map[string]string) float64 {
	return 0.3*math.Min(1, math.Log(setTo(env, "POOL", 4)/2)/math.Log(8)) + 0.05*math.Log(setTo(env, "GOGC", 100)/100)
}

func flat(map[string]string) float64 { return 0 }

// tuner searches three knobs of which the service knows two.
func tuner(t testing.TB, s *target, seed uint64, knobs ...string) *Tuner {
	t.Helper()
	if len(knobs) == 0 {
		knobs = []string{"GOGC=50..400", "env:POOL=2..64", "env:OTHER=1..9"}
	}
	plan := &scenario.Plan{Load: scenario.Load{Connections: 8}}
	plan.Target.Env = map[string]string{"GOGC": "100", "POOL": "4", "OTHER": "3"}
	var list []tune.Knob
	for _, text := range knobs {
		k, err := tune.ParseKnob(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, k)
	}
	space, err := tune.NewSpace(list, Present(plan))
	if err != nil {
		t.Fatal(err)
	}
	objective, err := tune.ParseObjective("", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return &Tuner{
		Present: session.Side{Name: "a", Plan: plan}, Space: space, Objective: objective, Measurer: s, Dir: t.TempDir(),
		MaxTime: time.Hour, Trials: 40, Seed: seed, Header: Header{Service: "svc", Objective: objective.String(),
			Knobs: knobs},
	}
}

func tuned(t testing.TB, tuner *Tuner) tune.Result {
	t.Helper()
	r, err := tuner.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// best is a setting of a result, by knob.
func best(r tune.Result) map[string]string {
	out := map[string]string{}
	for _, v := range r.Best {
		if v.Changed {
			out[strings.TrimPrefix(v.Knob, "env:")] = v.Value
		}
	}
	return out
}

// TestSimulatedKeepsWhereAllAreEqual is the search's first promise: where no setting is better, it finds
// none, in at least 19 of 20 searches.
func TestSimulatedKeepsWhereAllAreEqual(t *testing.T) {
	kept := 0
	for seed := range uint64(20) {
		s := &target{rng: rand.New(rand.NewPCG(seed, 1)), sd: []float64{0.02, 0.05, 0.08}[seed%3], value: flat}
		r := tuned(t, tuner(t, s, seed))
		if r.Verdict == tune.Keep {
			kept++
		} else {
			t.Logf("seed %d: %s: %s", seed, r.Verdict, r.Why)
		}
	}
	t.Logf("%d of 20 searches kept the present setting", kept)
	if kept < 19 {
		t.Errorf("%d of 20 searches kept the present setting where all are equal", kept)
	}
}

// TestSimulatedRecommendationsHold: what is recommended is better by the surface itself, not only by
// its measurements.
func TestSimulatedRecommendationsHold(t *testing.T) {
	recommended, worse := 0, 0
	for seed := range uint64(*searches) {
		s := &target{rng: rand.New(rand.NewPCG(seed, 2)), sd: []float64{0.02, 0.05, 0.08}[seed%3], value: slope}
		r := tuned(t, tuner(t, s, seed))
		if r.Verdict != tune.Recommend {
			t.Logf("seed %d, sd %.2f: %s: %s", seed, s.sd, r.Verdict, r.Why)
			continue
		}
		recommended++
		if gain := slope(best(r)) - slope(map[string]string{"POOL": "4"}); gain <= 0 {
			worse++
			t.Errorf("seed %d: %v is recommended and gains %.3f", seed, r.Lines, gain)
		}
	}
	t.Logf("%d of %d searches recommended something, %d of them for the worse", recommended, *searches, worse)
	if 4*recommended < 3**searches || worse > 0 {
		t.Errorf("%d of %d searches recommended something, %d of them for the worse: there is 20 %% to gain",
			recommended, *searches, worse)
	}
}

func TestCrashesNarrowTheRange(t *testing.T) {
	s := &target{rng: rand.New(rand.NewPCG(3, 3)), sd: 0.02, value: slope, change: func(env map[string]string,
		_ *verify.Block) error {
		if setTo(env, "POOL", 4) > 30 {
			return errors.New("the target ended before it was ready: exit status 2\n  | too many connections")
		}
		return nil
	}}
	r := tuned(t, tuner(t, s, 3))
	if v := setTo(best(r), "POOL", 4); r.Verdict != tune.Recommend || v > 30 {
		t.Errorf("%s %v (%s): a pool above 30 crashes the service", r.Verdict, r.Lines, r.Why)
	}
	if remark := r.Knobs[1].Remark; !strings.Contains(remark, "64") || !strings.Contains(remark,
		"too many connections") {
		t.Errorf("the knob's remark is %q", remark)
	}
}

func TestIgnoredKnobs(t *testing.T) {
	s := &target{rng: rand.New(rand.NewPCG(4, 3)), sd: 0.02, value: flat, change: func(_ map[string]string,
		b *verify.Block) error {
		b.Values[session.SetGOGC] = 400
		return nil
	}}
	r := tuned(t, tuner(t, s, 4))
	if remark := r.Knobs[0].Remark; !strings.Contains(remark, "ignored by the target: it ran with GOGC 400") {
		t.Errorf("the remark of a knob that the target sets itself is %q", remark)
	}
	if remark := r.Knobs[2].Remark; !strings.Contains(remark, "no effect seen") {
		t.Errorf("the remark of a knob that nothing reads is %q", remark)
	}
	if _, set := best(r)["GOGC"]; set || r.Verdict != tune.Keep {
		t.Errorf("%s %v", r.Verdict, r.Lines)
	}
}

func TestUnmetGuard(t *testing.T) {
	s := &target{rng: rand.New(rand.NewPCG(5, 3)), sd: 0.02, value: slope}
	tuner := tuner(t, s, 5)
	tuner.Objective, _ = tune.ParseObjective("throughput", []string{"rss < 32MiB"}, false)
	if r := tuned(t, tuner); r.Verdict != tune.Unmet || !strings.Contains(r.Why, "no setting keeps rss < 32MiB") {
		t.Errorf("%s: %s", r.Verdict, r.Why)
	}
}

// TestGuardBounds: a setting that breaks a guard is not recommended though it is the fastest.
func TestGuardBounds(t *testing.T) {
	s := &target{rng: rand.New(rand.NewPCG(6, 3)), sd: 0.02, value: slope, change: func(env map[string]string,
		b *verify.Block) error {
		b.Values["rss"] = 20e6 + 2e6*setTo(env, "POOL", 4)
		return nil
	}}
	tuner := tuner(t, s, 6)
	tuner.Objective, _ = tune.ParseObjective("throughput", []string{"rss < 52MiB"}, false) // a pool of 17
	r := tuned(t, tuner)
	if v := setTo(best(r), "POOL", 4); r.Verdict != tune.Recommend || v > 17 || v < 6 {
		t.Errorf("%s %v: %s", r.Verdict, r.Lines, r.Why)
	}
}

// TestGuardIsMet: where the present setting breaks a guard, one that keeps it is recommended
// though it is slower.
func TestGuardIsMet(t *testing.T) {
	s := &target{rng: rand.New(rand.NewPCG(7, 3)), sd: 0.02, change: func(env map[string]string,
		b *verify.Block) error {
		b.Values["rss"] = (40e6 + 10e6*setTo(env, "POOL", 4)) * b.Values["throughput"] / b.Values["throughput"]
		return nil
	}, value: slope}
	tuner := tuner(t, s, 7)
	tuner.Objective, _ = tune.ParseObjective("throughput", []string{"rss < 65MiB"}, false)
	r := tuned(t, tuner)
	if v := setTo(best(r), "POOL", 4); r.Verdict != tune.Recommend || v != 2 || !strings.Contains(r.Why,
		"it keeps rss < 65MiB") {
		t.Errorf("%s %v: %s", r.Verdict, r.Lines, r.Why)
	}
}

// TestResume: an interrupted tune goes on with the trials that it has, and comes to the same
// setting.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	begin := func(ctx context.Context, s *target, resume bool) (tune.Result, error) {
		tuner := tuner(t, s, 8)
		tuner.Dir, tuner.Resume = dir, resume
		return tuner.Run(ctx)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &target{rng: rand.New(rand.NewPCG(8, 3)), sd: 0.02, value: slope}
	s.change = func(map[string]string, *verify.Block) error {
		if s.n == 40 {
			cancel()
		}
		return ctx.Err()
	}
	r, err := begin(ctx, s, false)
	if !errors.Is(err, context.Canceled) || r.Verdict != tune.Interrupted || r.Trials == 0 {
		t.Fatalf("%+v, %v", r.Verdict, err)
	}
	before := s.n
	s.change = nil
	r, err = begin(t.Context(), s, true)
	if err != nil || r.Verdict != tune.Recommend {
		t.Fatalf("%s: %s, %v", r.Verdict, r.Why, err)
	}
	lines, err := os.ReadFile(filepath.Join(dir, TrialsFile))
	if n := strings.Count(string(lines), "\n"); err != nil || n != r.Trials {
		t.Errorf("%d trials are kept of %d, %v", n, r.Trials, err)
	}
	if most := before + 2*(r.Trials+1) + 2*(6+60); s.n > most {
		t.Errorf("%d launches: the trials before the interrupt were measured again", s.n)
	}
	other := tuner(t, s, 8, "GOGC=50..800")
	other.Dir, other.Resume = dir, true
	if _, err := other.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "list of knobs") {
		t.Errorf("a tune of other knobs goes on: %v", err)
	}
}

// TestResumeInTheConfirmation: the search that time had ended does not go on, and the confirmation is of the same setting.
func TestResumeInTheConfirmation(t *testing.T) {
	s := &target{rng: rand.New(rand.NewPCG(11, 3)), sd: 0.02, value: slope}
	first := tuner(t, s, 11)
	ctx, cancel := context.WithCancel(t.Context())
	s.change = func(map[string]string, *verify.Block) error {
		switch s.n {
		case 16:
			first.begun = first.begun.Add(-first.MaxTime) // the search's time is over; the confirmation has its reserve
		case 20:
			cancel()
		}
		return ctx.Err()
	}
	r, err := first.Run(ctx)
	if !errors.Is(err, context.Canceled) || r.Verdict != tune.Interrupted {
		t.Fatalf("%s: %s, %v", r.Verdict, r.Why, err)
	}
	if _, err := os.Stat(filepath.Join(first.Dir, ConfirmDir, session.File)); err != nil {
		t.Fatalf("it was not interrupted in the confirmation: %v", err)
	}
	s.change = nil
	again := tuner(t, s, 11)
	again.Dir, again.Resume = first.Dir, true
	resumed, err := again.Run(t.Context())
	if err != nil || resumed.Confirmed == nil || resumed.Trials != r.Trials || !reflect.DeepEqual(resumed.Best, r.Best) {
		t.Errorf("%s: %s, %v; %d trials and %v, before %d and %v", resumed.Verdict, resumed.Why, err, resumed.Trials, resumed.Best,
			r.Trials, r.Best)
	}
}

// TestPresentFails: a present setting that fails in the search leaves a result that says so.
func TestPresentFails(t *testing.T) {
	s := &target{rng: rand.New(rand.NewPCG(12, 3)), sd: 0.02, value: slope}
	s.change = func(env map[string]string, _ *verify.Block) error {
		if s.n > 20 && setTo(env, "POOL", 4) == 4 && setTo(env, "GOGC", 100) == 100 && setTo(env, "OTHER", 3) == 3 {
			return errors.New("the target ended: exit status 2\n  | out of memory")
		}
		return nil
	}
	r, err := tuner(t, s, 12).Run(t.Context())
	if err == nil || r.Verdict != tune.Invalid || r.Why != "the target ended: exit status 2" {
		t.Errorf("%q: %q, %v", r.Verdict, r.Why, err)
	}
}

// TestErrorsGuardIsMet: where the present setting fails too many requests, one that fails fewer is recommended though it
// is slower; and there is none where all fail too many.
func TestErrorsGuardIsMet(t *testing.T) {
	s := &target{rng: rand.New(rand.NewPCG(13, 3)), sd: 0.02, value: slope}
	s.change = func(env map[string]string, b *verify.Block) error {
		b.Errors = 0.005
		if setTo(env, "POOL", 4) < 4 {
			b.Errors = 0.0001 * s.rng.Float64()
		}
		return nil
	}
	guarded := tuner(t, s, 13)
	guarded.Objective, _ = tune.ParseObjective("throughput", []string{"errors < 0.1%"}, false)
	r := tuned(t, guarded)
	if v := setTo(best(r), "POOL", 4); r.Verdict != tune.Recommend || v >= 4 || !strings.Contains(r.Why, "it keeps errors < 0.1%") {
		t.Errorf("%s %v: %s", r.Verdict, r.Lines, r.Why)
	}
	if !slices.Equal(r.Guards, []string{"errors < 0.1%"}) {
		t.Errorf("guards %v", r.Guards)
	}
	s.change = func(_ map[string]string, b *verify.Block) error { b.Errors = 0.005; return nil }
	guarded = tuner(t, s, 14)
	guarded.Objective, _ = tune.ParseObjective("throughput", []string{"errors < 0.1%"}, false)
	if r := tuned(t, guarded); r.Verdict != tune.Unmet || !strings.Contains(r.Why, "it is 0.50 % now, and the nearest was 0.50 % with") {
		t.Errorf("%s: %s", r.Verdict, r.Why)
	}
}

// TestNearestOfTwoGuards: the figure is that of the guard which the nearest trial broke most.
func TestNearestOfTwoGuards(t *testing.T) {
	one := tuner(t, &target{}, 1)
	one.Objective, _ = tune.ParseObjective("throughput", []string{"rss < 50MiB", "errors < 0.1%"}, false)
	for _, d := range []struct{ rss, errors float64 }{{400 << 20, 0}, {40 << 20, 0.002}} {
		one.done = append(one.done, logged{Trial: tune.Trial{Setting: one.Space.Present},
			Pair: &verify.Pair{B: verify.Block{Values: map[string]float64{"rss": d.rss}, Errors: d.errors}}})
	}
	if near := one.nearest(); !strings.HasPrefix(near, "0.20 % (errors < 0.1%) with ") {
		t.Errorf("%q", near)
	}
}

func TestTooLittleTime(t *testing.T) {
	s := &target{rng: rand.New(rand.NewPCG(9, 3)), sd: 0.02, value: flat, change: func(map[string]string,
		*verify.Block) error {
		return nil
	}}
	tuner := tuner(t, s, 9)
	tuner.MaxTime, tuner.Trials = time.Nanosecond, 0
	if _, err := tuner.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "too little time") {
		t.Errorf("a tune without time ends with %v", err)
	}
}

func TestSides(t *testing.T) {
	k := func(text string) tune.Knob {
		knob, err := tune.ParseKnob(text)
		if err != nil {
			t.Fatal(err)
		}
		return knob
	}
	plan := &scenario.Plan{}
	plan.Target = scenario.Target{Build: "./svc", Args: []string{"serve", "--workers", "4", "-mode=fast"},
		Env: map[string]string{"A": "1"}}
	space, err := tune.NewSpace([]tune.Knob{k("flag:-workers=1,2,8"), k("flag:-mode=fast,slow"), k("flag:-new=1,2"),
		k("env:A=1,3"), k("pgo")}, Present(plan))
	if err != nil {
		t.Fatal(err)
	}
	tuner := &Tuner{Present: session.Side{Plan: plan, Binary: "plain"}, Profiled: "profiled", Space: space}
	at := func(words ...string) tune.Setting {
		x := slices.Clone(space.Present)
		for i, w := range words {
			if w != "" {
				x[i] = slices.IndexFunc(space.Knobs[i].Levels, func(l tune.Level) bool { return l.Text == w })
			}
		}
		return x
	}
	s := tuner.side(at("8", "slow", "2", "3", "on"))
	if got := strings.Join(s.Plan.Target.Args, " "); got != "serve --workers 8 -mode=slow -new=2" ||
		s.Plan.Target.Env["A"] != "3" || s.Binary != "profiled" {
		t.Errorf("%s, %v, %s", got, s.Plan.Target.Env, s.Binary)
	}
	s = tuner.side(space.Present)
	if got := strings.Join(s.Plan.Target.Args, " "); got != strings.Join(plan.Target.Args, " ") ||
		s.Plan.Target.Env["A"] != "1" || s.Binary != "plain" {
		t.Errorf("the present setting is not the service untouched: %s", got)
	}
	if plan.Target.Args[2] != "4" || plan.Target.Env["A"] != "1" {
		t.Errorf("a side changed the plan: %v", plan.Target)
	}
}
