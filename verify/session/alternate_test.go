package session

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/verify"
)

// TestByTurns: both sides are loaded for equally long, never at once, with a rest
// after every turn, and end together.
func TestByTurns(t *testing.T) {
	const ms = time.Millisecond
	for _, load := range []scenario.Load{
		{Connections: 8, Duration: 2 * time.Second},
		{Connections: 1, Duration: 2 * time.Second, Stages: []scenario.Stage{{To: 9}}},
		{Duration: 100 * ms},
	} {
		for _, turn := range []time.Duration{leastTurn, mostTurn} {
			var loads [2]scenario.Load
			var shares [2]float64
			for position := range loads {
				loads[position] = load
				shares[position] = byTurns(&loads[position], Course{Turn: turn}, position).share
			}
			span := loads[0].Duration
			if loads[1].Duration != span || shares[0] != shares[1] || span < 2*leastTurns*turn {
				t.Fatalf("spans of %v and %v, loaded for %v of them", span, loads[1].Duration, shares)
			}
			var on [2]time.Duration
			last, since := -1, time.Duration(0)
			for position, l := range loads { // a load that ended takes its target down beside the other's last turn
				if level(l.Stages, span-ms/2) != 1 {
					t.Fatalf("the load of place %d ends before the span", position)
				}
			}
			for at := time.Duration(0); at < span-farewell; at += ms {
				a, b := level(loads[0].Stages, at), level(loads[1].Stages, at)
				switch {
				case a > 0 && b > 0:
					t.Fatalf("both are loaded at %v", at)
				case a+b == 0:
					since += ms
					continue
				}
				now := 0
				if b > 0 {
					now = 1
				}
				on[now] += ms
				if now != last && since != rest(turn) {
					t.Fatalf("a rest of %v before %v, want %v", since, at, rest(turn))
				}
				if want := float64(load.Connections); want > 0 && a+b != want || a+b < 1 {
					t.Fatalf("a load of %v at %v", a+b, at)
				}
				last, since = now, 0
			}
			if since != rest(turn)-farewell || on[0] != on[1] || math.Abs(on[0].Seconds()-shares[0]*span.Seconds()) > 1e-9 {
				t.Errorf("a rest of %v at the end, loaded for %v of %v, told %v", since, on, span, shares)
			}
		}
	}
}

// level is the load that stages define at a time after the first of them.
func level(stages []scenario.Stage, at time.Duration) float64 {
	value, reached := 0.0, time.Duration(0)
	for _, s := range stages {
		if reached += s.Over; at < reached {
			return value
		}
		value = s.To
	}
	return 0
}

// alternating measures by turns what a bench draws; trouble may spoil it.
type alternating struct {
	bench
	turns   []time.Duration
	each    []int // turns of a side, as requested
	alone   int
	trouble func(turn time.Duration, lead, other *verify.Block) error
}

func (a *alternating) Measure(ctx context.Context, s Side) (verify.Block, error) {
	a.alone++
	if ctx.Err() != nil {
		return verify.Block{}, ctx.Err()
	}
	return a.bench.Measure(ctx, s)
}

func (a *alternating) Alternate(ctx context.Context, lead, other Side, c Course) (leads, others verify.Block, err error) {
	a.turns, a.each = append(a.turns, c.Turn), append(a.each, c.Each)
	leads, _ = a.bench.Measure(ctx, lead)
	others, _ = a.bench.Measure(ctx, other)
	if a.trouble != nil {
		err = a.trouble(c.Turn, &leads, &others)
	}
	return leads, others, err
}

// quickly is a session of identical sides without the metrics that take long to
// decide.
func quickly(m Measurer) *Session {
	s := drawn(0)
	s.Measurer, s.Rules.Metrics = m, rules().Metrics[:1]
	return s
}

// TestTurnsWhereTheyServe: pairs are measured by turns from the first one on, long enough
// for several requests, and otherwise with one side at a time.
func TestTurnsWhereTheyServe(t *testing.T) {
	slow := verify.Latencies{}
	slow.Add(int64(rest(2*leastTurn)*9/10), 1000)
	for name, c := range map[string]struct {
		trouble func(turn time.Duration, lead, other *verify.Block) error
		alone   bool // requested
		turn    time.Duration
		apart   string
	}{
		"as they are": {turn: leastTurn},
		"slow requests": {func(turn time.Duration, _, other *verify.Block) error {
			if turn < 2*leastTurn {
				other.Latency = slow
			}
			return nil
		}, false, 2 * leastTurn, ""},
		"slower ones": {func(_ time.Duration, lead, _ *verify.Block) error {
			lead.Latency = maps.Clone(slow)
			lead.Latency.Add(1e9, 1000)
			return nil
		},
			false, 0, "takes longer than the 200 ms"},
		"cannot be placed": {func(time.Duration, *verify.Block, *verify.Block) error { return errors.New("no port\n | panic") }, false, 0, "no port"},
		"no room for two":  {func(_ time.Duration, _, other *verify.Block) error { other.Errors = 0.01; return nil }, false, 0, "requests failed while both were up"},
		"void":             {func(_ time.Duration, lead, _ *verify.Block) error { lead.Void = "nothing ended"; return nil }, false, 0, "nothing ended"},
		"asked for":        {nil, true, 0, ""},
	} {
		m := &alternating{bench: bench{rng: rand.New(rand.NewPCG(1, 2)), sd: 0.02}, trouble: c.trouble}
		s := quickly(m)
		s.OneAtATime = c.alone
		r, err := s.Run(context.Background())
		if err != nil || r.Verdict != verify.Pass || r.Turn != c.turn || !strings.Contains(r.Apart, c.apart) ||
			(r.Apart == "") != (c.apart == "") || strings.Contains(r.Apart, "\n") {
			t.Errorf("%s: %s (%s) with turns of %v, apart since %q, %v", name, r.Verdict, r.Why, r.Turn, r.Apart, err)
		}
		pairs := samePairs + r.Pairs
		if c.turn > 0 && (m.alone > 0 || m.turns[len(m.turns)-1] != c.turn || len(m.turns) < pairs) || c.turn == 0 && m.alone != 2*pairs {
			t.Errorf("%s: %d blocks alone and %d by turns for %d pairs", name, m.alone, len(m.turns), pairs)
		}
	}
}

// withTurns gives blocks of a pair ten turns, of a launch and turns that deviate.
func withTurns(rng *rand.Rand, launch, turn float64, blocks ...*verify.Block) {
	for _, b := range blocks {
		level := 10 + launch*rng.NormFloat64()
		for range 10 {
			b.Turns = append(b.Turns, math.Exp(level+turn*rng.NormFloat64()))
		}
	}
}

// TestPlan: the first pairs decide how many turns the others have: few if launches deviate and cost
// little, many if turns deviate. How often side a is compared with itself depends on the time.
func TestPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		launch, turn float64
		cost         time.Duration // of a launch
		least, most  int
	}{
		"launches deviate": {0.3, 0.02, time.Second, leastTurns, leastTurns},
		"turns deviate":    {0.001, 0.30, 2 * time.Second, 11, 30},
		"launches cost":    {0.04, 0.15, 20 * time.Second, 25, 50},
		"they cost dear":   {0.01, 0.30, 10 * time.Minute, mostTurns, mostTurns},
	} {
		pairs := make([]verify.Pair, verify.EarlyPairs)
		for i := range pairs {
			withTurns(rng, c.launch, c.turn, &pairs[i].A, &pairs[i].B)
			pairs[i].Took = c.cost + 10*2*(leastTurn+rest(leastTurn))
		}
		s := &Session{turn: leastTurn}
		took := s.arrange(pairs)
		if n := s.each; n < c.least || n > c.most || took != c.cost+time.Duration(n)*2*(leastTurn+rest(leastTurn)) {
			t.Errorf("%s: %d turns, which take %v", name, n, took)
		}
	}
	s := &Session{MaxTime: 5 * time.Minute}
	for each, want := range map[time.Duration]int{0: samePairs, time.Second: samePairs, 3 * time.Second: samePairs, 6 * time.Second: 0} {
		if got := s.sames(each); got != want {
			t.Errorf("pairs of %v: %d of side a with itself in five minutes, want %d", each, got, want)
		}
	}
}

// TestPlanIsKept: a session measures by its plan from the fifth pair on, and its result says so.
func TestPlanIsKept(t *testing.T) {
	m := &alternating{bench: bench{rng: rand.New(rand.NewPCG(1, 2)), sd: 0.02}}
	m.trouble = func(_ time.Duration, lead, other *verify.Block) error {
		withTurns(m.rng, 0.01, 0.1, lead, other)
		return nil
	}
	s := quickly(m)
	planned := ""
	s.OnProgress = func(p Progress) { planned += p.Plan }
	r, err := s.Run(context.Background())
	if err != nil || r.Plan == nil || r.Noise == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	// Drawn blocks take no time, so launches cost nothing.
	if r.Plan.Turns != leastTurns || r.Plan.Pairs < r.Pairs || !strings.Contains(planned, "with 4 turns each") ||
		m.each[verify.EarlyPairs-1] != 0 || m.each[verify.EarlyPairs] != leastTurns || m.each[len(m.each)-1] != leastTurns {
		t.Errorf("plan %+v (%q), asked for %v turns", r.Plan, planned, m.each)
	}
	if math.Abs(r.Noise.Turn/0.1-1) > 0.2 {
		t.Errorf("noise %+v", r.Noise)
	}
}

// TestTurnsThatBreakLater: once both sides have served, a failure to serve is the side's.
func TestTurnsThatBreakLater(t *testing.T) {
	m := &alternating{bench: bench{rng: rand.New(rand.NewPCG(1, 2)), sd: 0.02}}
	m.trouble = func(time.Duration, *verify.Block, *verify.Block) error {
		if len(m.turns) == 12 {
			return errors.New("side b: the target ended")
		}
		return nil
	}
	s := quickly(m)
	if r, err := s.Run(context.Background()); err != nil || r.Verdict != verify.Invalid ||
		!strings.Contains(r.Why, "side b: the target ended") || m.alone > 0 {
		t.Errorf("%s (%s), %v", r.Verdict, r.Why, err)
	}
}

// TestTurnsThatBecomeCrowded: requests that were fast at first and are slow later
// are reported.
func TestTurnsThatBecomeCrowded(t *testing.T) {
	for _, from := range []int{2, 1000} {
		m := &alternating{bench: bench{rng: rand.New(rand.NewPCG(1, 2)), sd: 0.02}}
		m.trouble = func(turn time.Duration, lead, _ *verify.Block) error {
			if len(m.turns) >= from {
				lead.Latency = verify.Latencies{}
				lead.Latency.Add(int64(2*rest(turn)), 1000)
			}
			return nil
		}
		r, err := quickly(m).Run(context.Background())
		if reported := strings.Contains(strings.Join(r.Warnings, "; "), "--one-at-a-time"); err != nil ||
			r.Verdict != verify.Pass || reported != (from == 2) {
			t.Errorf("slow from pair %d on: %s (%s), warnings %q, %v", from, r.Verdict, r.Why, r.Warnings, err)
		}
	}
}

// TestResumedTurns: an interrupted session continues as it began.
func TestResumedTurns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	header := Header{Plan: []byte(`{}`), Seed: 3}
	for _, late := range []time.Duration{0, leastTurn} {
		dir += "x"
		log, err := Create(dir, header)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(context.Background())
		m := &alternating{bench: bench{rng: rand.New(rand.NewPCG(1, 2)), sd: 0.02}}
		m.trouble = func(turn time.Duration, lead, _ *verify.Block) error {
			if turn == late {
				lead.Errors = 1 // so that it is not measured by turns at all
			}
			if len(m.turns) == 4 {
				stop(context.Canceled)
				return context.Canceled
			}
			return nil
		}
		s := quickly(m)
		s.Log = log
		s.OnProgress = func(Progress) {
			if m.alone == 8 {
				stop(context.Canceled)
			}
		}
		_, _ = s.Run(ctx)
		log.Close()
		resumed, _, err := Resume(dir, header)
		if err != nil {
			t.Fatal(err)
		}
		m = &alternating{bench: bench{rng: rand.New(rand.NewPCG(1, 2)), sd: 0.02}}
		s = quickly(m)
		s.Log = resumed
		r, err := s.Run(context.Background())
		if err != nil || r.Verdict != verify.Pass || (r.Turn > 0) != (late == 0) || (m.alone > 0) == (len(m.turns) > 0) {
			t.Errorf("%s (%s) with turns of %v: %d blocks alone, %d pairs by turns, %v", r.Verdict, r.Why, r.Turn,
				m.alone, len(m.turns), err)
		}
	}
}
