package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/notation"
)

// driver runs steps of load on the target.
type driver interface {
	// drive measures one step.
	drive(ctx context.Context, l load) (knee.Step, error)
	// relaunch restarts the target, and reports whether it could: one that redline
	// did not start is left alone.
	relaunch(ctx context.Context) (bool, error)
	// starts reports whether redline starts the target.
	starts() bool
	// atKnee measures with everything observed, in a launch of its own if redline starts the target.
	atKnee(ctx context.Context, l load) (knee.Step, error)
}

// load is one step's.
type load struct {
	phase       knee.Phase
	rate        float64
	connections int // of a closed loop
	warmup      time.Duration
	measured    time.Duration
	objectives  knee.Objectives
}

// lostError is returned for a target that cannot be measured any further.
type lostError struct{ why error }

func (e *lostError) Error() string {
	return "the target could not be measured any further: " + e.why.Error()
}
func (e *lostError) Unwrap() error { return e.why }

// Lengths of the parts.
const (
	lightTime  = 3 * time.Second
	sweepTime  = 1500 * time.Millisecond
	sweepWarm  = 500 * time.Millisecond
	stepWarm   = time.Second
	stepLeast  = 5 * time.Second
	stepMost   = 20 * time.Second
	kneeTime   = 8 * time.Second
	kneeWarm   = 2 * time.Second
	overTime   = 4 * time.Second
	soakLeast  = 10 * time.Second
	overhead   = 1500 * time.Millisecond // per step: sources, grace time, assessment
	kneeClosed = 8 * time.Second         // for the run at the knee: launch, traces, assessment
	// stepRequests is the number of requests that a 99th percentile and a trend
	// need.
	stepRequests = 400
	// sweepMost bounds the connections of the sweep.
	sweepMost = 256
	// sweepFlat is the number of consecutive doublings without a gain that end the
	// sweep.
	sweepFlat = 3
	risen     = 1.03
	leastUp   = 6 // one more concurrency than the scalability law needs
	// overloaded, returned, soaked and justAbove are rates as multiples of the
	// knee's.
	overloaded, returned, soaked, justAbove = 1.3, 0.95, 0.8, 1.03
	// relaunchAfter is the number of search steps in the first launch.
	relaunchAfter = 5
)

// conductor leads a session from step to step.
type conductor struct {
	driver
	log   *log
	now   func() time.Duration // since the session began
	end   time.Duration
	soak  time.Duration // at most
	given knee.Objectives
	show  func(Progress)

	objectives knee.Objectives
	launches   int
	answer     string // what is known about the knee so far, in words
}

// conduct measures all parts. ended is why the session was not completed.
func (c *conductor) conduct(ctx context.Context) (ended string, err error) {
	c.launches = 1
	light, err := c.step(ctx, load{phase: knee.Light, connections: 1, warmup: stepWarm, measured: lightTime})
	if err != nil {
		return "", err
	}
	if light.Outcome == knee.Breaks || light.Outcome == knee.Ended {
		return "the target fails with one connection alone: " + strings.Join(light.Why, "; "), nil
	}
	c.objectives = c.given.Complete(light)
	if err := c.log.objectives(c.objectives); err != nil {
		return "", err
	}
	if err := c.sweep(ctx, light); err != nil {
		return "", err
	}
	found, err := c.search(ctx)
	if err != nil {
		return "", err
	}
	if found == nil {
		return "the target served nothing in the sweep", nil
	}
	if why := found.Stuck(); why != "" && !found.Bounded() {
		return why, nil
	}
	if !found.Bounded() {
		return "", nil
	}
	return c.around(ctx, found.Interval())
}

// around measures the remaining parts around a knee that was found.
func (c *conductor) around(ctx context.Context, i knee.Interval) (ended string, err error) {
	left := c.end - c.now() - kneeWarm - kneeTime - kneeClosed
	if left > overTime+stepLeast+soakLeast+4*overhead {
		for _, l := range []load{
			{phase: knee.Overload, rate: overloaded * i.High, measured: overTime},
			{phase: knee.Return, rate: returned * i.Low, warmup: 2 * stepWarm, measured: stepLeast},
		} {
			if _, err := c.step(ctx, l); err != nil {
				return "", err
			}
		}
		left = c.end - c.now() - kneeWarm - kneeTime - kneeClosed
	}
	if long := min(c.soak, left-overhead-stepWarm); long >= soakLeast {
		if _, err := c.step(ctx, load{phase: knee.Soak, rate: soaked * i.Rate, warmup: 2 * stepWarm, measured: long}); err != nil {
			return "", err
		}
	} else {
		ended = "no time was left for a soak (hint: a longer --max-time)"
	}
	l := load{phase: knee.AtKnee, rate: justAbove * i.High, warmup: kneeWarm, measured: kneeTime, objectives: c.objectives}
	c.progress(fmt.Sprintf("what limits it: %s/s, everything observed", notation.Rate(l.rate)), false)
	begun := c.now()
	if c.starts() {
		c.launches++
	}
	s, err := c.atKnee(ctx, l)
	if err != nil {
		return "", err
	}
	s.Begun, s.Launch = begun, c.launches
	return ended, c.log.add(s)
}

// sweep raises the connections until throughput stops rising, and lowers them
// again.
func (c *conductor) sweep(ctx context.Context, light knee.Step) error {
	most, flat, levels := light.Served, 0, []int{}
	for n := 2; n <= sweepMost && flat < sweepFlat; n *= 2 {
		s, err := c.step(ctx, load{phase: knee.Up, connections: n, warmup: sweepWarm, measured: sweepTime})
		if err != nil {
			return err
		}
		levels = append(levels, n)
		if s.Served > risen*most {
			flat = 0
		} else if flat++; len(levels)+1 < leastUp {
			flat = min(flat, sweepFlat-1)
		}
		if most = max(most, s.Served); s.Outcome == knee.Breaks && s.Served < most/2 {
			break
		}
	}
	for i := len(levels) - 2; i >= 0; i -= 2 {
		if _, err := c.step(ctx, load{phase: knee.Down, connections: levels[i], warmup: sweepWarm, measured: sweepTime}); err != nil {
			return err
		}
	}
	return nil
}

// search tries rates until the knee is known or its time is up. It returns nil if the sweep served nothing.
func (c *conductor) search(ctx context.Context) (*knee.Search, error) {
	found := knee.SearchOf(c.log.steps)
	if found == nil {
		return nil, nil
	}
	until := c.end - min(c.end*2/5, overTime+stepLeast+soakLeast+4*overhead+kneeWarm+kneeTime+kneeClosed)
	fresh := false
	for n, after := 0, false; found.Stuck() == "" && !(found.Done() && (fresh || n >= 2*relaunchAfter)); n++ {
		rate, longer := found.Next()
		l := load{phase: knee.Searched, rate: rate, warmup: stepWarm, measured: time.Duration(longer * float64(lengthAt(rate)))}
		if after {
			l.warmup = 2 * stepWarm // a queue left by the previous step must not count for this one
		}
		if c.now()+l.warmup+l.measured+overhead > until {
			break
		}
		if n == relaunchAfter {
			var err error
			if fresh, err = c.anew(ctx); err != nil {
				return nil, err
			}
		}
		s, err := c.step(ctx, l)
		if err != nil {
			return nil, err
		}
		found = knee.SearchOf(c.log.steps)
		after = s.Outcome == knee.Breaks
		if found.Bounded() {
			i := found.Interval()
			c.answer = fmt.Sprintf(" (so far %s to %s/s)", notation.Rate(i.Low), notation.Rate(i.High))
		}
	}
	return found, nil
}

// lengthAt returns the length of a step at a rate that makes its tail meaningful.
func lengthAt(rate float64) time.Duration {
	return min(stepMost, max(stepLeast, time.Duration(stepRequests/rate*float64(time.Second))))
}

// anew relaunches the target if possible.
func (c *conductor) anew(ctx context.Context) (bool, error) {
	c.progress("relaunching the target", false)
	could, err := c.relaunch(ctx)
	if err != nil {
		return false, &lostError{err}
	}
	if could {
		c.launches++
	}
	return could, nil
}

// step measures one step and keeps it. A target that ended is relaunched.
func (c *conductor) step(ctx context.Context, l load) (knee.Step, error) {
	l.objectives = c.objectives
	c.progress(l.words()+c.answer, false)
	begun := c.now()
	s, err := c.drive(ctx, l)
	if err != nil {
		return s, err
	}
	s.Phase, s.Launch, s.Begun = l.phase, c.launches, begun
	if err := c.log.add(s); err != nil {
		return s, err
	}
	if s.Outcome == knee.Ended && l.phase != knee.Light {
		_, err = c.anew(ctx)
	}
	return s, err
}

func (l load) words() string {
	what := fmt.Sprintf("%s/s", notation.Rate(l.rate))
	if l.rate == 0 {
		what = notation.Counted(int64(l.connections), "connection", "connections")
	}
	name := map[knee.Phase]string{
		knee.Light: "unloaded", knee.Up: "sweep", knee.Down: "sweep", knee.Searched: "trying", knee.Overload: "overload",
		knee.Return: "after the overload", knee.Soak: "soak",
	}[l.phase]
	return fmt.Sprintf("%s: %s for %s", name, what, notation.Time(l.measured))
}

func (c *conductor) progress(text string, within bool) {
	if c.show != nil {
		c.show(Progress{Text: text, Left: max(0, c.end-c.now()), Within: within})
	}
}
