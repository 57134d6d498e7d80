package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/verify"
)

const (
	// warmup comes before the turns. A service's first second is dear, and both have it
	// at once.
	warmup = 600 * time.Millisecond
	// opening is the time for the sources of both sides, from when both are ready.
	opening = 200 * time.Millisecond
	// attempts at a meeting that the generator could not keep up with.
	attempts = 3
)

// meeting is one launch of each side, both of them up while they take turns.
type meeting struct {
	*climb
	sides  [2]variant
	copies []int // the database of each side
	turns  ladder.Turns

	accounts [2]ladder.Account
	begun    [2]time.Duration // of the load, on the clock
}

// spoilt is a meeting that the generator could not keep up with.
type spoilt struct{ why string }

func (e *spoilt) Error() string { return "the generator could not keep up: " + e.why }

// measure returns the meeting's pairs: one per turn, or one of all turns where launches
// are paired. It measures again what the generator spoilt.
func (m *meeting) measure(ctx context.Context) ([]verify.Pair, error) {
	for attempt := 1; ; attempt++ {
		pairs, err := m.once(ctx)
		var late *spoilt
		if err == nil || !errors.As(err, &late) || attempt == attempts {
			return pairs, err
		}
	}
}

func (m *meeting) once(ctx context.Context) ([]verify.Pair, error) {
	m.bundles++
	var before [2]stock
	for i := range m.sides {
		var err error
		if before[i], err = m.databases.stock(ctx, m.copies[i]); err != nil {
			return nil, err
		}
	}
	records, err := m.launch(ctx)
	if err != nil {
		return nil, err
	}
	for _, rec := range records {
		defer os.RemoveAll(rec.Dir)
	}
	return m.paired(ctx, records, before)
}

// paired settles the orders of both sides first: one that is lost is lost however the generator did.
func (m *meeting) paired(ctx context.Context, records [2]*record.Record, before [2]stock) (pairs []verify.Pair, err error) {
	for i, rec := range records {
		if m.accounts[i], err = m.account(ctx, m.sides[i].rung.Name, m.copies[i], rec, before[i]); err != nil {
			return nil, err
		}
	}
	var blocks [2][]verify.Block
	for i, rec := range records {
		if err := valid(rec); err != nil {
			return nil, fmt.Errorf("%s: %w", m.sides[i].rung.Name, err)
		}
		if blocks[i], err = m.blocks(i, rec); err != nil {
			return nil, err
		}
	}
	for i := range min(len(blocks[0]), len(blocks[1])) {
		pairs = append(pairs, verify.Pair{A: blocks[0][i], B: blocks[1][i], Turn: m.turns.Slot()})
	}
	return pairs, nil
}

// awaiting returns when a run's load begins; see run.Options.Await.
type awaiting func(context.Context) (start time.Duration, err error)

// launch runs both sides: at once by turns, or one after the other in random order where
// requests are counted.
func (m *meeting) launch(ctx context.Context) (records [2]*record.Record, err error) {
	clock, err := timebase.Start()
	if err != nil {
		return records, err
	}
	together, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	plans, err := m.plans()
	if err != nil {
		return records, err
	}
	one := func(i int, await awaiting) {
		rec, err := m.side(together, i, plans[i], clock, await)
		if err != nil {
			cancel(fmt.Errorf("%s: %w", m.sides[i].rung.Name, err)) // the other has no partner
		}
		records[i] = rec
	}
	if m.Requests > 0 {
		order := []int{0, 1}
		m.random.Shuffle(2, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			if context.Cause(together) == nil {
				one(i, nil)
			}
		}
		return records, context.Cause(together)
	}
	gate := newGate(clock)
	var running sync.WaitGroup
	for i := range m.sides {
		running.Go(func() {
			one(i, func(ctx context.Context) (time.Duration, error) {
				start, err := gate.pass(ctx)
				m.begun[i] = start
				return start, err
			})
		})
	}
	running.Wait()
	return records, context.Cause(together)
}

// plans returns the load of each side, at addresses of their own.
func (m *meeting) plans() (plans [2]*scenario.Plan, err error) {
	for i := range plans {
		// A free address may be given twice before anybody listens there.
		for plans[i] == nil || i == 1 && plans[1].Target.Ready == plans[0].Target.Ready {
			if plans[i], err = m.plan(m.copies[i], m.sides[i].env); err != nil {
				return plans, err
			}
		}
		l := &plans[i].Load
		l.Warmup, l.Requests = warmup, m.Requests
		if m.Requests == 0 {
			l.Duration, l.Stages = m.turns.Span(), m.turns.Stages(l.Connections, i == 0)
		}
	}
	return plans, nil
}

// side runs one side and opens its bundle.
func (m *meeting) side(
	ctx context.Context, i int, plan *scenario.Plan, clock timebase.Clock, await awaiting,
) (*record.Record, error) {
	dir := filepath.Join(m.scratch, fmt.Sprintf("meeting-%d-%s", m.bundles, "ab"[i:i+1]))
	err := run.Run(ctx, run.Options{
		Plan: plan, Dir: dir, Version: m.Version, Binary: m.binary, Counters: true, Clock: clock, Await: await,
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return record.Open(dir)
}

// gate lets both sides begin at one instant, once both are ready.
type gate struct {
	clock timebase.Clock
	mu    sync.Mutex
	ready int
	start time.Duration
	open  chan struct{}
}

func newGate(clock timebase.Clock) *gate { return &gate{clock: clock, open: make(chan struct{})} }

// pass waits for the other side and returns when the load begins: with a window, so that
// each turn consists of whole ones.
func (g *gate) pass(ctx context.Context) (time.Duration, error) {
	g.mu.Lock()
	if g.ready++; g.ready == 2 {
		g.start = (g.clock.Now() + opening + ladder.Window - 1) / ladder.Window * ladder.Window
		close(g.open)
	}
	g.mu.Unlock()
	select {
	case <-g.open:
		return g.start, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// blocks turns a side's bundle into the blocks that are paired.
func (m *meeting) blocks(i int, rec *record.Record) ([]verify.Block, error) {
	if m.Requests > 0 {
		b, err := counted(rec)
		return []verify.Block{b}, err
	}
	c := &ladder.Collector{Turns: m.turns, A: i == 0, From: m.begun[i] + warmup}
	err := rec.Intervals(histogram.Latency, func(_ string, s timebase.Span, counts *histogram.Counts) bool {
		for bucket := range counts.Buckets() {
			c.Answered(s.From, bucket.To, bucket.Count)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, name := range cpuSeries(rec) {
		line := rec.Series(name, "", timebase.Span{From: c.From, To: rec.Run.Steady.To})
		for at, v := range line.Values {
			c.Spent(line.Span(at).From, v)
		}
	}
	if m.Full {
		return []verify.Block{c.Whole()}, nil
	}
	return c.Blocks(), nil
}

// cpuSeries are the counters of the service's CPU: the runtime's own reading where the
// probe has it, else the kernel's.
func cpuSeries(rec *record.Record) []string {
	probed := []string{"/process/cpu/user:cpu-seconds", "/process/cpu/system:cpu-seconds"}
	if _, present := rec.Series(probed[0], "", rec.Run.Steady).Sum(); present > 0 {
		return probed
	}
	return []string{series.ProcessUser, series.ProcessSystem}
}

// counted makes a block of a run that was bounded by requests.
func counted(rec *record.Record) (verify.Block, error) {
	var s record.Summary
	if err := rec.ReadJSON(record.SummaryFile, &s); err != nil {
		return verify.Block{}, err
	}
	b := verify.Block{Values: map[string]float64{ladder.Throughput: s.Load.Rate}, Latency: verify.Latencies{}}
	h, err := rec.Histogram("", histogram.Latency, rec.Run.Steady)
	if err != nil {
		return b, err
	}
	for _, bar := range h.Distribution() {
		if bar.Count > 0 {
			b.Latency.Add(bar.To, bar.Count)
		}
	}
	cpu := 0.0
	for _, name := range cpuSeries(rec) {
		spent, _ := rec.Series(name, "", rec.Run.Steady).Sum()
		cpu += spent
	}
	if n := b.Latency.Total(); n > 0 && cpu > 0 {
		b.Values[ladder.CPU] = cpu / float64(n)
	}
	return b, nil
}

// creating is the scenario's request that makes an order.
const creating = "create"

// orders counts what a run's clients know of the orders that they asked for, warm-up
// included.
func orders(rec *record.Record) (a ladder.Account, err error) {
	for kind, into := range map[histogram.Kind]*int64{
		histogram.Latency: &a.Made, histogram.ErrorLatency: &a.Open, histogram.Unfinished: &a.Open,
	} {
		if err := rec.Intervals(kind, func(step string, _ timebase.Span, counts *histogram.Counts) bool {
			if step == creating {
				*into += counts.Total()
			}
			return true
		}); err != nil {
			return a, err
		}
	}
	return a, nil
}

// valid is why a run does not count; nil where it does.
func valid(rec *record.Record) error {
	var s record.Summary
	if err := rec.ReadJSON(record.SummaryFile, &s); err != nil {
		return err
	}
	switch why := s.Generator.WhyInvalid; {
	case s.Load.Requests == 0:
		return errors.New("no request ended")
	case s.Load.Errors*100 > s.Load.Requests:
		return fmt.Errorf("%d of %d requests failed (%v)", s.Load.Errors, s.Load.Requests, s.Load.ErrorKinds)
	case !s.Generator.Valid && len(why) > 0:
		return &spoilt{why[0]}
	}
	return nil
}
