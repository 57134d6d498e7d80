package load

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redline-go/redline/load/socket"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// TestEarlyLearnsTheQuantile: one wake-up in ten comes later than the lead, whatever the scale.
func TestEarlyLearnsTheQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, scale := range []time.Duration{5 * time.Microsecond, 40 * time.Microsecond} {
		var e early
		later := 0
		for i := range 20_000 {
			late := scale/2 + time.Duration(rng.Int64N(int64(scale)))
			if i >= 2_000 && late > e.usual {
				later++
			}
			e.woke(late)
		}
		if share := float64(later) / 18_000; share < 0.05 || share > 0.15 {
			t.Errorf("%v: %v of the wake-ups were later than %v", scale, share, e.usual)
		}
	}
	var e early
	for range 1000 {
		e.woke(time.Second)
	}
	if e.usual > mostEarly {
		t.Errorf("a machine that is always late gets %v", e.usual)
	}
}

// TestEarlyKeepsToItsShare: however often requests are due, it takes at most a quarter of the time.
func TestEarlyKeepsToItsShare(t *testing.T) {
	e := early{usual: 50 * time.Microsecond}
	var spent time.Duration
	const each, spells = 80 * time.Microsecond, 100_000
	for i := range spells {
		if d := e.lead(time.Duration(i) * each); d > 0 {
			e.spent(d, true)
			spent += d
		}
	}
	if share := spent.Seconds() / (spells * each).Seconds(); share < 0.24 || share > 0.26 {
		t.Errorf("spent %v of the time", share)
	}
	if e.spent(time.Second, true); e.lead(spells*each+time.Second) != 0 {
		t.Error("a spell that took a second is not made up for after another")
	}
}

// idle returns a loop of a load without requests.
func idle(t *testing.T) *loop {
	t.Helper()
	poll, err := socket.NewPoller()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(poll.Close)
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	return &loop{run: &run{clock: clock, plan: scenario.Load{}}, poll: poll}
}

// TestSpellsInPlaceOfSleepsAreFree: polling for as long as a sleep would cost takes nothing from the share, and what it takes more
// does. All of it is no work.
func TestSpellsInPlaceOfSleepsAreFree(t *testing.T) {
	e := early{sleep: 5 * time.Microsecond, saved: time.Millisecond}
	e.spent(4*time.Microsecond, false)
	e.spent(7*time.Microsecond, false)
	e.spent(time.Microsecond, true)
	if e.saved != time.Millisecond-3*time.Microsecond || e.total.Load() != int64(12*time.Microsecond) {
		t.Errorf("%v left, %v in all", e.saved, time.Duration(e.total.Load()))
	}
	poll := idle(t).poll
	if e.measure(poll); e.sleep <= 0 && socket.CPU() > 0 || e.sleep > mostEarly/4 {
		t.Errorf("a sleep costs %v", e.sleep)
	}
	poll.Wake()
	e = early{}
	if e.measure(poll); e.sleep != 0 {
		t.Errorf("a wait that an event ended was taken for a sleep of %v", e.sleep)
	}
}

// TestWaitDoesNotSleepForLess: what is due sooner than a sleep costs is waited for awake, whoever else needs the CPU.
func TestWaitDoesNotSleepForLess(t *testing.T) {
	l := idle(t)
	l.early.sleep = time.Hour
	l.alarms.add(&lane{}, l.now()+time.Minute)
	l.poll.Wake()
	if n, err := l.wait(); n != 1 || err != nil || l.early.total.Load() == 0 {
		t.Errorf("%d events, %v, after polling for %v", n, err, time.Duration(l.early.total.Load()))
	}
}

// TestWaitLooksWhileItWaits: an event within a spell of polling ends it, and the spell counts against the share
// but is no work.
func TestWaitLooksWhileItWaits(t *testing.T) {
	l := idle(t)
	r, poll := l.run, l.poll
	due := r.clock.Now() + time.Hour
	l.alarms.add(&lane{}, due)
	l.early.usual, l.early.saved = 2*time.Hour, 2*time.Hour
	r.spare.yes.Store(true)
	poll.Wake()
	n, err := l.wait()
	if n != 1 || err != nil {
		t.Fatalf("%d events, %v", n, err)
	}
	_ = poll.Event(0)
	if total := time.Duration(l.early.total.Load()); total <= 0 || l.early.saved != 2*time.Hour-total {
		t.Errorf("%v spent of 2h, %v left", total, l.early.saved)
	}
	l.alarms = nil
	l.alarms.add(&lane{}, r.clock.Now()) // it is due
	if n, err := l.wait(); n != 0 || err != nil {
		t.Errorf("nothing to wait for: %d events, %v", n, err)
	}
}
