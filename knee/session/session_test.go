package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/knee"
)

// fake is a service of known capacity, on a clock of its own.
type fake struct {
	capacity float64
	each     time.Duration // service time
	now      time.Duration
	launches int
	own      bool // its target is redline's to start

	endsAbove float64      // rate from which it ends; 0 is none
	voidAbove float64      // rate from which the generator is the limit
	stuck     bool         // after an overload nothing holds any more
	soakFails knee.Outcome // empty if it does not
	light     knee.Outcome
	cancel    func()
	cancelAt  int // step
	steps     []load
	over      bool
}

func (f *fake) drive(ctx context.Context, l load) (knee.Step, error) {
	f.steps = append(f.steps, l)
	if f.cancelAt > 0 && len(f.steps) == f.cancelAt {
		f.cancel()
		return knee.Step{}, ctx.Err()
	}
	f.now += l.warmup + l.measured + time.Second
	s := knee.Step{
		Rate:        l.rate,
		Connections: l.connections,
		Measured:    l.measured,
		Service:     int64(f.each),
		P99:         int64(2 * f.each),
		Outcome:     knee.Holds,
	}
	if l.rate == 0 {
		n := float64(l.connections)
		s.Served = min(n/f.each.Seconds(), f.capacity)
		if l.phase == knee.Light && f.light != "" {
			s.Outcome, s.Why = f.light, []string{"100 % of the requests failed"}
		}
		return s, nil
	}
	s.Served = min(l.rate, f.capacity)
	switch {
	case f.endsAbove > 0 && l.rate > f.endsAbove:
		s.Outcome, s.Why, s.Served = knee.Ended, []string{"the target ended: exit status 2"}, 0
	case f.voidAbove > 0 && l.rate > f.voidAbove:
		s.Outcome, s.Why = knee.Void, []string{"an event loop of the generator was on CPU for 99 % of the time"}
	case f.soakFails == knee.Ended && l.phase == knee.Soak:
		s.Outcome, s.Why, s.Served, s.P99 = knee.Ended, []string{"the target ended: exit status 2"}, 0, 0
	case l.rate > f.capacity, f.stuck && f.over, f.soakFails == knee.Breaks && l.phase == knee.Soak:
		s.Outcome, s.Why = knee.Breaks, []string{"p99 < 20ms fails: 80 ms"}
	}
	f.over = f.over || l.phase == knee.Overload
	return s, nil
}

func (f *fake) relaunch(context.Context) (bool, error) {
	if f.own {
		f.launches++
	}
	return f.own, nil
}

func (f *fake) starts() bool { return f.own }

const atKneeTime = 15 * time.Second

func (f *fake) atKnee(_ context.Context, l load) (knee.Step, error) {
	f.now += atKneeTime
	return knee.Step{Phase: knee.AtKnee, Rate: l.rate, Served: f.capacity, Outcome: knee.Breaks, Why: []string{"p99 < 20ms fails: 1 s"},
		Finding: &knee.Finding{Cause: "pool-wait", Title: "Requests wait", Bundle: atKneeDir}}, nil
}

// conduct leads a session with a fake, and answers.
func conduct(t *testing.T, f *fake, end time.Duration) (*knee.Answer, string) {
	t.Helper()
	dir := t.TempDir()
	log, err := create(dir, knee.Header{Schema: headerSchema, Target: "http://127.0.0.1/"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.cancel = cancel
	c := &conductor{driver: f, log: log, now: func() time.Duration { return f.now }, end: end, soak: DefaultSoak}
	ended, err := c.conduct(ctx)
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	a, err := log.finish(ended, ctx.Err() != nil)
	if err != nil {
		t.Fatal(err)
	}
	return a, dir
}

// phases lists the phases of an answer's steps, each once per stretch.
func phases(a *knee.Answer) string {
	var list []string
	for _, s := range a.Steps {
		if n := len(list); n == 0 || list[n-1] != string(s.Phase) {
			list = append(list, string(s.Phase))
		}
	}
	return strings.Join(list, " ")
}

func TestASessionFindsTheKnee(t *testing.T) {
	f := &fake{capacity: 800, each: 5 * time.Millisecond, own: true}
	a, dir := conduct(t, f, DefaultMaxTime)
	if a.State != knee.Found || a.Knee.Low > 800 || a.Knee.High < 800 || a.Knee.Width() > 0.1 {
		t.Fatalf("%s %s: %+v", a.State, a.Why, a.Knee)
	}
	if got, want := phases(a), "light up down search overload return soak knee"; got != want {
		t.Errorf("phases %q, want %q", got, want)
	}
	if f.now > DefaultMaxTime || f.launches != 1 || a.Launches < 2 {
		t.Errorf("it took %v and %d launches", f.now, f.launches)
	}
	if a.Finding == nil || a.Finding.Cause != "pool-wait" || a.Soak.Outcome != knee.Holds || !a.Hysteresis.Recovered {
		t.Errorf("finding %+v, soak %+v, hysteresis %+v", a.Finding, a.Soak, a.Hysteresis)
	}
	if p := a.Pool; p.Size != 4 || p.Swept != 4 || p.Folklore < 40 {
		t.Errorf("pool %+v", p)
	}
	again, err := Read(dir)
	if err != nil || again.Knee == nil || *again.Knee != *a.Knee || again.State != knee.Found || len(again.Steps) != len(a.Steps) {
		t.Errorf("read again: %v, %+v", err, again)
	}
}

func TestSessionsThatEndOtherwise(t *testing.T) {
	service := func(change func(*fake)) *fake {
		f := &fake{capacity: 800, each: 5 * time.Millisecond, own: true}
		change(f)
		return f
	}
	for _, c := range []struct {
		name  string
		f     *fake
		end   time.Duration
		state knee.State
		why   string // or a warning
	}{
		{"fails with one connection", service(func(f *fake) { f.light = knee.Breaks }), DefaultMaxTime, knee.Undecided, "fails with one connection alone: 100 %"},
		{"the generator is the limit", service(func(f *fake) { f.capacity, f.each, f.voidAbove = 50_000, time.Millisecond, 700 }),
			DefaultMaxTime,
			knee.Undecided, "the generator"},
		{"serves nothing", service(func(f *fake) { f.capacity = 0 }), DefaultMaxTime, knee.Undecided, "served nothing in the sweep"},
		{"ends when overloaded", service(func(f *fake) { f.endsAbove = 600 }), DefaultMaxTime, knee.Found, "above the knee the target ended by itself"},
		{"ends at every rate", service(func(f *fake) { f.endsAbove = 0.1 }), DefaultMaxTime, knee.Undecided, "whatever the rate"},
		{"the soak breaks", service(func(f *fake) { f.soakFails = knee.Breaks }), DefaultMaxTime, knee.Undecided, "the soak at"},
		{"ends in the soak", service(func(f *fake) { f.soakFails = knee.Ended }), DefaultMaxTime, knee.Undecided, "after the steps had held: the target ended"},
		{"interrupted", service(func(f *fake) { f.cancelAt = 16 }), DefaultMaxTime, knee.Interrupted, "interrupted"},
		{"no time for the search", service(func(*fake) {}), leastTime, knee.Undecided, "before the time was up"},
	} {
		a, dir := conduct(t, c.f, c.end)
		said := a.Why + "; " + strings.Join(a.Warnings, "; ")
		if a.State != c.state || !strings.Contains(said, c.why) {
			t.Errorf("%s: %s, %q", c.name, a.State, said)
		}
		if again, err := Read(dir); err != nil || again.State != a.State || again.Why != a.Why {
			t.Errorf("%s: read again: %v", c.name, err)
		}
	}
}

// TestTheRunAtTheKnee: its times and its launch are its own. A target that redline does not start is never launched.
func TestTheRunAtTheKnee(t *testing.T) {
	for _, own := range []bool{true, false} {
		f := &fake{capacity: 800, each: 5 * time.Millisecond, own: own}
		a, _ := conduct(t, f, DefaultMaxTime)
		last, before := a.Steps[len(a.Steps)-1], a.Steps[len(a.Steps)-2]
		launches := 1
		if own {
			launches = f.launches + 2 // the first, and that of the run at the knee
		}
		if last.Phase != knee.AtKnee || last.Begun != f.now-atKneeTime || last.Launch != launches || a.Launches != launches {
			t.Errorf("own %t: the %s step begins at %v in launch %d of %d, want %v in %d; the one before at %v", own, last.Phase,
				last.Begun, last.Launch, a.Launches, f.now-atKneeTime, launches, before.Begun)
		}
	}
}

func TestHysteresisIsSeen(t *testing.T) {
	f := &fake{capacity: 800, each: 5 * time.Millisecond, stuck: true}
	a, _ := conduct(t, f, DefaultMaxTime)
	if a.Hysteresis == nil || a.Hysteresis.Recovered || a.Hysteresis.Return < 700 {
		t.Errorf("%+v", a.Hysteresis)
	}
}

// TestThePlateauIsServed: where the target exits it serves nothing, which is no throughput under overload.
func TestThePlateauIsServed(t *testing.T) {
	a, _ := conduct(t, &fake{capacity: 800, each: 5 * time.Millisecond, own: true, endsAbove: 600}, DefaultMaxTime)
	if a.Knee == nil || a.Plateau != 800 || a.Broke != "the target ended: exit status 2" {
		t.Errorf("knee %+v, plateau %v, broke %q", a.Knee, a.Plateau, a.Broke)
	}
}

// TestAKilledSessionIsReadable: a last line that was cut short, and no end, is an
// interrupted session with the steps before.
func TestAKilledSessionIsReadable(t *testing.T) {
	f := &fake{capacity: 800, each: 5 * time.Millisecond}
	whole, dir := conduct(t, f, DefaultMaxTime)
	path := filepath.Join(dir, stepsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	cut := bytes.Join(lines[:14], nil)
	if err := os.WriteFile(path, append(cut, lines[14][:20]...), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Read(dir)
	if err != nil || a.State != knee.Interrupted || len(a.Steps) != 14 || len(whole.Steps) <= 14 {
		t.Errorf("%v: %+v", err, a)
	}
	if err := os.WriteFile(path, append(cut, "{\"step\": 7}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "line 15") {
		t.Errorf("a damaged line: %v", err)
	}
}

func TestReadRefusesWhatIsNoSession(t *testing.T) {
	if _, err := Read(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestOldDirectoriesAreNotOverwritten: steps are kept once.
func TestOldDirectoriesAreNotOverwritten(t *testing.T) {
	_, dir := conduct(t, &fake{capacity: 800, each: 5 * time.Millisecond}, DefaultMaxTime)
	if _, err := create(dir, knee.Header{Schema: headerSchema}); !errors.Is(err, os.ErrExist) {
		t.Errorf("%v", err)
	}
}
