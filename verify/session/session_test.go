package session

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/verify"
)

// bench measures without a service: its blocks are drawn, not timed.
func (b bench) Measure(_ context.Context, s Side) (verify.Block, error) {
	if s.Name == "b" {
		return b.block(1 + b.slower), nil
	}
	return b.block(1), nil
}

func drawn(slower float64) *Session {
	return &Session{
		A: Side{Name: "a"}, B: Side{Name: "b"}, Rules: rules(), Pairs: 24, MaxTime: time.Hour,
		Measurer: bench{rng: rand.New(rand.NewPCG(1, 2)), sd: 0.02, slower: slower},
	}
}

// measure lets a function stand in for the measurement.
type measure func(ctx context.Context, s Side, n int) (verify.Block, error)

type counted struct {
	f measure
	n int
}

func (c *counted) Measure(ctx context.Context, s Side) (verify.Block, error) {
	c.n++
	return c.f(ctx, s, c.n)
}

func TestSimulatedSessionDecides(t *testing.T) {
	for slower, want := range map[float64]verify.Verdict{0: verify.Pass, 0.10: verify.Regression, -0.20: verify.Improvement} {
		s := drawn(slower)
		var last Progress
		s.OnProgress = func(p Progress) { last = p }
		r, err := s.Run(context.Background())
		if err != nil || r.Verdict != want {
			t.Errorf("%+.2f slower: %s (%s), %v", slower, r.Verdict, r.Why, err)
		}
		if last.Result == nil || last.Pairs != r.Pairs || last.Most != 24 || r.AA.Pairs != samePairs {
			t.Errorf("progress ended at %+v for %d pairs, %d of identical sides", last, r.Pairs, r.AA.Pairs)
		}
		if want == verify.Regression && r.Pairs == 24 {
			t.Error("a change of 10 % took all pairs: no look decided early")
		}
	}
}

// TestBeyondDoubt: a difference that the first pairs show is reported after them, even with too
// little time for an ordinary session; one of the size of the noise is not.
func TestBeyondDoubt(t *testing.T) {
	for _, c := range []struct {
		slower  float64
		pairs   int // for which there is time; 0 for all
		verdict verify.Verdict
		after   int
	}{
		{159, 0, verify.Regression, verify.EarlyPairs},
		{159, verify.LeastEarly, verify.Regression, verify.LeastEarly},
		{159, verify.LeastEarly - 1, verify.Invalid, verify.LeastEarly - 1},
		{-0.9, 0, verify.Improvement, verify.EarlyPairs},
		{0, verify.EarlyPairs, verify.Invalid, verify.EarlyPairs},
	} {
		s := drawn(c.slower)
		inner := s.Measurer
		s.Measurer = &counted{f: func(ctx context.Context, side Side, n int) (verify.Block, error) {
			if c.pairs > 0 && n == 2*c.pairs {
				s.MaxTime = 1 // nanosecond: the time is up
			}
			return inner.Measure(ctx, side)
		}}
		r, err := s.Run(context.Background())
		if err != nil || r.Verdict != c.verdict || r.Pairs != c.after || r.Early != (c.verdict != verify.Invalid) {
			t.Errorf("%+.1f with time for %d pairs: %s (%s) after %d, early: %v, %v", c.slower, c.pairs, r.Verdict, r.Why, r.Pairs,
				r.Early, err)
		}
	}
}

// TestSimulatedFaultsNeverPass: whatever is broken about a side, the session does not pass.
func TestSimulatedFaultsNeverPass(t *testing.T) {
	good := bench{rng: rand.New(rand.NewPCG(5, 2)), sd: 0.02}
	with := func(change func(s Side, n int, b *verify.Block)) Measurer {
		return &counted{f: func(ctx context.Context, s Side, n int) (verify.Block, error) {
			b, err := good.Measure(ctx, s)
			change(s, n, &b)
			return b, err
		}}
	}
	for name, c := range map[string]struct {
		measurer Measurer
		verdict  verify.Verdict
		why      string
	}{
		"side b refuses": {with(func(s Side, _ int, b *verify.Block) {
			if s.Name == "b" {
				b.Void = "every request failed"
			}
		}), verify.Invalid, "side b: every request failed"},
		"nothing loaded": {with(func(_ Side, _ int, b *verify.Block) { b.Void = "the scenario loaded nothing" }), verify.Invalid, "side a: the scenario loaded nothing"},
		"generator saturated late": {with(func(_ Side, n int, b *verify.Block) {
			if n > 2*samePairs+9 {
				b.Void = "the generator could not keep up"
			}
		}), verify.Invalid, "could not keep up"},
		"wrong statuses": {with(func(s Side, _ int, b *verify.Block) {
			if s.Name == "b" {
				b.Errors = 0.02
			}
		}), verify.Regression, "side b fails 2.0 % of its requests, side a 0 %"},
		"both fail": {with(func(_ Side, _ int, b *verify.Block) { b.Errors = 0.5 }), verify.Invalid,
			"side b fails 50 % of its requests, side a 50 %, and failures cost"},
		"side a fails": {with(func(s Side, _ int, b *verify.Block) {
			if s.Name == "a" {
				b.Errors = 0.05
			}
		}), verify.Invalid, "side b fails 0 % of its requests, side a 5.0 %"},
		"metric missing at times": {with(func(_ Side, n int, b *verify.Block) {
			if n%5 == 0 {
				delete(b.Values, "cpu_per_request")
			}
		}), verify.Inconclusive, "cpu_per_request"},
	} {
		s := drawn(0)
		s.Measurer = c.measurer
		r, err := s.Run(context.Background())
		if err != nil || r.Verdict != c.verdict || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s: %s (%s), %v", name, r.Verdict, r.Why, err)
		}
		if r.Verdict != verify.Inconclusive && len(r.HeldUpBy) > 0 {
			t.Errorf("%s: %s, held up by %q", name, r.Verdict, r.HeldUpBy)
		}
	}
	crash := drawn(0)
	crash.Measurer = &counted{f: func(ctx context.Context, s Side, n int) (verify.Block, error) {
		if s.Name == "b" {
			return verify.Block{}, errors.New("side b: the target ended")
		}
		return good.Measure(ctx, s)
	}}
	if r, err := crash.Run(context.Background()); err != nil || r.Verdict != verify.Invalid ||
		!strings.Contains(r.Why, "side b: the target ended") || r.AA.Pairs != 0 {
		t.Errorf("side b crashes: %s (%s) after %d pairs of side a with itself, %v", r.Verdict, r.Why, r.AA.Pairs, err)
	}
	hurried := drawn(0)
	hurried.MaxTime = time.Nanosecond
	r, err := hurried.Run(context.Background())
	if err != nil || r.Verdict != verify.Invalid || !strings.Contains(r.Why, "--max-time") {
		t.Errorf("without time: %s (%s), %v", r.Verdict, r.Why, err)
	}
	if r.Looks > 0 || r.Confidence > 0 || len(r.HeldUpBy) > 0 {
		t.Errorf("without time: %d looks at a confidence of %v, held up by %q", r.Looks, r.Confidence, r.HeldUpBy)
	}
}

// TestMetricNobodyDelivers: a default metric is left out with a note, one that the
// scenario requires keeps the session from deciding.
func TestMetricNobodyDelivers(t *testing.T) {
	s := drawn(0)
	inner := s.Measurer
	s.Measurer = &counted{f: func(ctx context.Context, side Side, _ int) (verify.Block, error) {
		b, err := inner.Measure(ctx, side)
		delete(b.Values, "allocs_per_request")
		return b, err
	}}
	r, err := s.Run(context.Background())
	if err != nil || r.Verdict != verify.Pass || !strings.Contains(strings.Join(r.Warnings, "; "), "allocs_per_request is not judged") {
		t.Errorf("%s (%s), %v, warnings %q", r.Verdict, r.Why, err, r.Warnings)
	}
	for i := range s.Rules.Metrics {
		s.Rules.Metrics[i].Asked = true
	}
	s.Rules.Metrics = append([]verify.Metric{}, rules().Metrics...)
	for i := range s.Rules.Metrics {
		s.Rules.Metrics[i].Asked = s.Rules.Metrics[i].Name == "allocs_per_request"
		s.Rules.Metrics[i].Advisory = s.Rules.Metrics[i].Advisory && !s.Rules.Metrics[i].Asked
	}
	if r, err := s.Run(context.Background()); err != nil || r.Verdict != verify.Invalid ||
		!strings.Contains(r.Why, "does not deliver allocs_per_request") {
		t.Errorf("asked for: %s (%s), %v", r.Verdict, r.Why, err)
	}
}

// TestResume: an interrupted session continues where it was, and comes to the result that
// it would have had.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	header := Header{A: "svc@v1", B: "svc@v2", Plan: []byte(`{"load":{}}`), Seed: 42}
	log, err := Create(filepath.Join(dir, "s"), header)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s := drawn(0)
	s.Log, s.Rules.Seed = log, 42
	inner := s.Measurer
	s.Measurer = &counted{f: func(ctx context.Context, side Side, n int) (verify.Block, error) {
		if n == 2*(verify.EarlyPairs+samePairs+2) {
			stop(context.Canceled)
			return verify.Block{}, context.Canceled
		}
		return inner.Measure(ctx, side)
	}}
	if _, err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	log.Close()
	// The kill came in the middle of a line.
	path := filepath.Join(dir, "s", blocksFile)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"kind":"ab","A":{"va`); err != nil {
		t.Fatal(err)
	}
	f.Close()

	for field, other := range map[string]Header{
		"side b":   {A: header.A, B: "svc@v3", Plan: header.Plan},
		"scenario": {A: header.A, B: header.B, Plan: []byte(`{"load":{"rate":1}}`)},
	} {
		if _, _, err := Resume(filepath.Join(dir, "s"), other); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("resumed with another %s: %v", field, err)
		}
	}
	if _, err := Create(filepath.Join(dir, "s"), header); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("a session was begun over another: %v", err)
	}
	again, seed, err := Resume(filepath.Join(dir, "s"), header)
	if err != nil || seed != 42 {
		t.Fatalf("seed %d, %v", seed, err)
	}
	if again.count(identical) != samePairs || again.count(compared) != verify.EarlyPairs+1 {
		t.Errorf("kept %d pairs of identical sides and %d others", again.count(identical), again.count(compared))
	}
	measured := &counted{f: func(ctx context.Context, side Side, _ int) (verify.Block, error) { return inner.Measure(ctx, side) }}
	s.Log, s.Measurer = again, measured
	r, err := s.Run(context.Background())
	if err != nil || r.Verdict != verify.Pass {
		t.Fatalf("%s (%s), %v", r.Verdict, r.Why, err)
	}
	if want := 2 * (r.Pairs - verify.EarlyPairs - 1); measured.n != want {
		t.Errorf("%d blocks were measured after resuming, want %d", measured.n, want)
	}
	if err := again.Finish(r); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "s", ResultFile)); err != nil {
		t.Error(err)
	}
}
