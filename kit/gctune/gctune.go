// Package gctune steers GOGC and the memory limit of the program that imports it: as much heap as it takes to hold a
// target for the garbage collector's CPU, or for the latency that it causes, and never more than the control group
// allows.
//
//	tuner, err := gctune.Start(gctune.Options{})
//	...
//	defer tuner.Stop() // the settings from before come back
//
// # When not to use it
//
// Not where the heap is small against the container: GOGC=200 or 400 in the environment, with GOMEMLIMIT, does the
// same without a moving part. Not where collection takes a few percent of the CPU and latency does not follow it:
// there is nothing to win. Not in place of allocating less, which helps at every setting (an allocation
// profile shows where). Not in tests or comparing benchmarks, where a changing setting is noise. And not next
// to another package that sets GOGC or the memory limit: a Tuner that finds either changed by someone else
// leaves both alone from then on. For the limit alone, at start-up, automemlimit
// (github.com/KimMachineGun/automemlimit) is well kept and smaller. GOMAXPROCS follows the control group by
// itself from Go 1.25 on.
//
// # The control law
//
// The Go guide to the collector (https://go.dev/doc/gc-guide, "GOGC") derives that the CPU share of
// collection is proportional to 1/GOGC for a given program and load. So the law works on logarithms, where
// that is a straight line of slope -1, and is an integral controller:
//
//	GOGC(n+1) = GOGC(n) (signal / center)^g, with g = 1/2 for CPU and 1/4 for latency
//
// With slope -k each step leaves 1 - gk of the error: it shrinks without overshoot up to k = 1/g, and is stable up to
// k = 2/g. CPU has k = 1. For the latency of mark assist, field reports imply k = 2 to 3 (0.8, 3.2 and 11.7 ms at GOGC
// 150, 75 and 50). A controller with fixed steps, as in "10 % down above 5 ms, 5 % up below", has no point of rest: it
// crosses its target forever, and lowering GOGC is wrong wherever collection causes the latency.
//
// What keeps it calm: between 0.7 and 1.0 of the target nothing changes. A decision rests on at least two
// collections, because the runtime's CPU figures change once per cycle, and on the median of three such spans
// unless the first is far off. A step is at most a factor of 1.5 for CPU and 1.25 for latency. Each reversal
// of direction halves the gain, and a third within a minute is not made. A step down that leaves the target is undone
// and not repeated for 5 minutes: a p99 jumps where one request in a hundred begins to meet a collection, and then no
// setting lies in the band.
//
// What keeps it safe: after each step, CPU per allocated byte (which does not depend on the load; the kernel's figure)
// is compared with what the step explains. If two spans in a row exceed that by 15 % and by twice the noise between
// spans, the step is undone and its direction rests for 5 minutes. If latency has not fallen by a tenth when
// GOGC has doubled, GOGC is not its cause: all steps are undone. GOGC stays within bounds, and within what
// the memory limit leaves, by the guide's formula for the heap's goal. So the limit is a safety net and not a
// brake: a heap that runs into its limit collects continuously.
//
// # The memory limit
//
// For each level of control groups with a limit, Go may hold MemoryShare of the limit less what is used
// outside Go's memory: C libraries, mapped files in use, other processes of the group. The smallest of these
// is the runtime's memory limit. It is read again at each interval, because limits of running containers
// change. A memory limit that was set before, such as by GOMEMLIMIT, is never raised. Nor is the limit set
// below the live heap: that cannot be reached, and the kernel ends a program whose live heap outgrows its
// limit, with or without this package.
package gctune

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/kit/gctune/cgroup"
)

// none is the runtime's memory limit if none is set.
const none = math.MaxInt64

// ErrRunning is returned by Start while another Tuner runs: GOGC is one per process.
var ErrRunning = errors.New("gctune: a Tuner is running already")

// Options of a Tuner. The zero value holds collection at 5 % of the CPU in use, within the limits of the control group.
type Options struct {
	// GCShare is the target: collection's share of the CPU that the program uses, above 0 and at most 0.5. Zero means
	// 0.05. It is not used if P99 is set.
	GCShare float64
	// P99 returns the latency of the last interval, at the percentile that is to be held, and false if
	// nothing was measured. It is called once per Interval, on the Tuner's goroutine, and must not block. If
	// nil, GCShare is held.
	P99 func() (time.Duration, bool)
	// Target is the latency at which P99 is held, above 0. Required with P99.
	Target time.Duration
	// Min and Max bound GOGC, in percent, 1 to 10000. Zero means 50 and 400.
	Min, Max int
	// MemoryShare is the share of a control group's limit that the group may use, above 0 and at most 1. Zero means
	// 0.9, because the runtime lets a heap pass its goal by up to a tenth while it marks (maxOvershoot in
	// runtime/mgcpacer.go).
	MemoryShare float64
	// Limit is a limit in bytes for this process in addition to those of the control group; zero
	// means none. Resident memory that is not Go's, of C libraries and mapped files, counts where /proc shows it.
	Limit int64
	// Interval between readings. Zero means 1 s; below 10 ms means 10 ms.
	Interval time.Duration
	// OnChange, if not nil, receives the Stats after each change of GOGC or of the memory limit, on the Tuner's
	// goroutine. It may call Stats and Stop, and must not block. One call may still be in progress when Stop
	// returns.
	OnChange func(Stats)
}

// State is why GOGC has its present value.
type State string

// The states of a Tuner.
const (
	Waiting     State = "waiting for collections"     // too few for a decision, or no latency was measured
	Holding     State = "holding"                     // the target is met
	Stepped     State = "stepped"                     // GOGC was moved towards the target
	AtBound     State = "at a bound"                  // Min or Max keeps it from the target
	NoRoom      State = "no room"                     // the memory limit keeps it from the target
	Doubting    State = "doubting"                    // CPU rose after the step: one more span decides
	SteppedBack State = "stepped back"                // the step was undone, because CPU rose
	Deaf        State = "latency does not follow"     // the climb was undone, because latency did not fall
	Resting     State = "resting"                     // a step in this direction was undone a short while ago
	Damped      State = "damped"                      // it would be the third reversal within a minute
	Overridden  State = "overridden"                  // someone else set GOGC or the memory limit: both are left alone
	Blind       State = "control group is unreadable" // as Waiting; Err has the reason, and the memory limit stays
	Stopped     State = "stopped"                     // the original settings are in force again
)

// Stats is a snapshot of a Tuner.
type Stats struct {
	State State
	// GOGC in percent, and the runtime's memory limit in bytes, math.MaxInt64 for none, as the Tuner last set them.
	GOGC   int
	Memory int64
	// GCShare is the last measured share of collection in the CPU used, and Latency the last value of P99. Zero while
	// unknown.
	GCShare float64
	Latency time.Duration
	// Signal is the controlled figure as a share of its target: the median that decided last. Zero while
	// unknown.
	Signal float64
	// Moves counts changes of GOGC, Reversals those in the direction opposite to the one before, and StepsBack those
	// that undid others.
	Moves, Reversals, StepsBack int
	// Err is why the control group's limits could not be read last time; nil if they were.
	Err error
}

// Tuner is a running controller. The zero value is stopped: its Stats say so and its Stop does nothing. All methods
// may be called by any number of goroutines.
type Tuner struct {
	process process
	options Options

	mu        sync.Mutex
	law       law
	stats     Stats
	original  settings
	set       settings // as last set here
	running   bool
	direction int

	done  chan struct{}
	ended chan struct{}
}

// settings are the two runtime settings that a Tuner changes.
type settings struct {
	percent int // negative: off
	memory  int64
}

// process is what a Tuner steers.
type process interface {
	// read returns a sample without its latency. The error concerns only the
	// budget.
	read() (sample, error)
	// apply sets both and returns what was in force before.
	apply(settings) settings
}

// running is whether a Tuner controls the process.
var running atomic.Bool

// Start begins to steer this process, in a goroutine that ends with Stop. It fails with ErrRunning, or because of
// options out of bounds, and then has changed nothing. If the control group cannot be read it starts even so,
// and Stats has the reason.
func Start(o Options) (*Tuner, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if !running.CompareAndSwap(false, true) {
		return nil, ErrRunning
	}
	group, err := cgroup.Find("")
	t := begin(o, newRuntime(group, err, o))
	go t.run(o.Interval)
	return t, nil
}

// complete replaces zeros and checks bounds.
func (o Options) complete() (Options, error) {
	if o.GCShare == 0 {
		o.GCShare = 0.05
	}
	if o.Min == 0 {
		o.Min = 50
	}
	if o.Max == 0 {
		o.Max = max(400, o.Min)
	}
	if o.MemoryShare == 0 {
		o.MemoryShare = 0.9
	}
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	o.Interval = max(o.Interval, 10*time.Millisecond)
	switch {
	case !(o.GCShare > 0 && o.GCShare <= 0.5):
		return o, fmt.Errorf("gctune: GCShare is %v: above 0 and at most 0.5", o.GCShare)
	case o.P99 != nil && o.Target <= 0:
		return o, fmt.Errorf("gctune: Target is %v: P99 needs one above 0", o.Target)
	case o.P99 == nil && o.Target != 0:
		return o, errors.New("gctune: Target without P99")
	case o.Min < 1 || o.Max > 10000 || o.Min > o.Max:
		return o, fmt.Errorf("gctune: GOGC between %d and %d: bounds are 1 to 10000, the lower one first", o.Min, o.Max)
	case !(o.MemoryShare > 0 && o.MemoryShare <= 1):
		return o, fmt.Errorf("gctune: MemoryShare is %v: above 0 and at most 1", o.MemoryShare)
	case o.Limit < 0:
		return o, fmt.Errorf("gctune: Limit is %d bytes: at least 0", o.Limit)
	}
	return o, nil
}

// begin reads the settings in force, and changes none.
func begin(o Options, p process) *Tuner {
	t := &Tuner{process: p, options: o, running: true, done: make(chan struct{}), ended: make(chan struct{})}
	t.law = law{target: o.GCShare, least: o.Min, most: o.Max}
	if o.P99 != nil {
		t.law.aim = o.Target
	}
	s, _ := p.read()
	t.original = settings{s.percent, s.soft}
	t.set, t.law.originalSoft = t.original, s.soft
	t.stats = Stats{State: Waiting, GOGC: s.percent, Memory: s.soft}
	return t
}

func (t *Tuner) run(interval time.Duration) {
	defer close(t.ended)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	t.step() // the memory limit does not wait
	for {
		select {
		case <-t.done:
			return
		case <-ticker.C:
			t.step()
		}
	}
}

// step reads, decides and applies once.
func (t *Tuner) step() {
	latency, heard := time.Duration(0), false
	if t.options.P99 != nil {
		latency, heard = t.options.P99()
	}
	if changed, stats := t.advance(latency, heard && latency > 0); changed && t.options.OnChange != nil {
		t.options.OnChange(stats)
	}
}

// advance is step without the user's functions, which must not run with the lock
// held.
func (t *Tuner) advance(latency time.Duration, heard bool) (changed bool, stats Stats) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.running || t.stats.State == Overridden {
		return false, t.stats
	}
	s, err := t.process.read()
	t.stats.Err = err
	if s.percent != t.set.percent || s.soft != t.set.memory {
		t.stats.State = Overridden
		return false, t.stats
	}
	if err != nil {
		s.budget = t.law.memory // what was known last
		if !t.law.begun {
			s.budget = none
		}
	}
	s.latency, s.heard = latency, heard
	d := t.law.decide(s)
	t.account(s, d)
	if err != nil && d.state == Waiting {
		t.stats.State = Blind
	}
	next := settings{d.percent, d.memory}
	if next == t.set {
		return false, t.stats
	}
	t.process.apply(next)
	t.set = next
	return true, t.stats
}

// account brings the statistics up to date with a decision that is about to be applied.
func (t *Tuner) account(s sample, d decision) {
	t.stats.State, t.stats.GOGC, t.stats.Memory = d.state, d.percent, d.memory
	if d.share > 0 {
		t.stats.GCShare = d.share
	}
	if d.signal > 0 {
		t.stats.Signal = d.signal
	}
	if s.heard {
		t.stats.Latency = s.latency
	}
	if direction := sign(float64(d.percent - t.set.percent)); direction != 0 && t.set.percent >= 0 {
		t.stats.Moves++
		if t.direction != 0 && direction != t.direction {
			t.stats.Reversals++
		}
		t.direction = direction
	}
	if d.state == SteppedBack || d.state == Deaf {
		t.stats.StepsBack++
	}
}

// Stats returns a snapshot.
func (t *Tuner) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	stats := t.stats
	if !t.running {
		stats.State = Stopped
	}
	return stats
}

// Stop restores GOGC and the memory limit to their values before Start, except for a setting that someone
// else has changed since. The goroutine ends soon after. A second Stop does nothing.
func (t *Tuner) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.running {
		return
	}
	t.running = false
	close(t.done)
	now, _ := t.process.read()
	restored := t.original
	if now.percent != t.set.percent {
		restored.percent = now.percent
	}
	if now.soft != t.set.memory {
		restored.memory = now.soft
	}
	t.process.apply(restored)
	t.stats.GOGC, t.stats.Memory = restored.percent, restored.memory
	running.Store(false)
}
