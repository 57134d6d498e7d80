package session

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redline-go/redline/verify"
)

// crowdedBench measures by turns, but not if side b must not run beside side a.
type crowdedBench struct {
	bench
	failsBeside, fails bool
	alternated         int
}

func (c *crowdedBench) Measure(ctx context.Context, s Side) (verify.Block, error) {
	if c.fails && s.Name == "b" {
		return verify.Block{}, errors.New("side b: it ended")
	}
	return c.bench.Measure(ctx, s)
}

func (c *crowdedBench) Alternate(_ context.Context, lead, _ Side, _ Course) (leads, others verify.Block, err error) {
	if c.alternated++; c.alternated > 1 && c.failsBeside {
		return leads, others, errors.New("side b: too many connections")
	}
	quick := func() verify.Block {
		b := c.block(1)
		b.Latency = verify.Latencies{1: 1}
		return b
	}
	return quick(), quick(), nil
}

func TestTrials(t *testing.T) {
	for name, c := range map[string]struct {
		failsBeside, fails bool
		want               string
	}{
		"both at once":                       {},
		"only one at a time":                 {failsBeside: true},
		"the candidate fails":                {failsBeside: true, fails: true, want: "it ended"},
		"the candidate fails by itself only": {fails: true},
	} {
		m := &crowdedBench{bench: bench{rng: rand.New(rand.NewPCG(1, 2)), sd: 0.02}, failsBeside: c.failsBeside, fails: c.fails}
		trials := Trials{A: Side{Name: "a"}, Measurer: m, Seed: 1}
		if _, err := trials.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if turn, _ := trials.Turn(); turn == 0 {
			t.Errorf("%s: no turns", name)
		}
		p, err := trials.Pair(t.Context(), Side{Name: "b"}, 1)
		var failed *FailedError
		switch {
		case c.want == "" && (err != nil || p.A.Values == nil || p.B.Values == nil):
			t.Errorf("%s: %v, %+v", name, err, p)
		case c.want != "" && (!errors.As(err, &failed) || failed.Spoilt || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTrialsBlame: a fault of side a is no fault of the candidate, nor is one of the generator.
func TestTrialsBlame(t *testing.T) {
	good := bench{rng: rand.New(rand.NewPCG(1, 2)), sd: 0.02}
	measured := func(n int, change func(s Side, b *verify.Block) error) error {
		calls := 0
		m := &counted{f: func(ctx context.Context, s Side, _ int) (verify.Block, error) {
			b, err := good.Measure(ctx, s)
			if calls++; calls > 2 {
				err = change(s, &b)
			}
			return b, err
		}}
		trials := Trials{A: Side{Name: "a"}, Measurer: m, Seed: 1}
		if _, err := trials.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := trials.Pair(t.Context(), Side{Name: "b"}, n)
		return err
	}
	var failed *FailedError
	for n := range 2 {
		if err := measured(n, func(s Side, _ *verify.Block) error {
			if s.Name == "a" {
				return errors.New("side a: it ended")
			}
			return nil
		}); err == nil || errors.As(err, &failed) {
			t.Errorf("side a fails: %v", err)
		}
		if err := measured(n, func(s Side, b *verify.Block) error {
			if s.Name == "b" {
				b.Void = (&spoiltError{"lag"}).Error()
			}
			return nil
		}); !errors.As(err, &failed) || !failed.Spoilt {
			t.Errorf("the generator fails: %v", err)
		}
	}
}

func TestTrialsNeedAPresentSetting(t *testing.T) {
	m := &counted{f: func(context.Context, Side, int) (verify.Block, error) {
		return verify.Block{Void: "every request failed"}, nil
	}}
	trials := Trials{A: Side{Name: "a"}, Measurer: m, Seed: 1}
	if _, err := trials.Settle(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "the present setting was not measured: side a: every request failed") {
		t.Errorf("settled with %v", err)
	}
}
