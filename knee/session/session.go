package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
)

// DefaultMaxTime bounds a session.
const DefaultMaxTime = 4 * time.Minute

// leastTime is the time that the steps of any session need.
const leastTime = 45 * time.Second

// DefaultSoak is the longest soak, unless asked for.
const DefaultSoak = time.Minute

// Options describes a session. Plan, Dir, Target and Version are required.
type Options struct {
	Plan    *scenario.Plan
	Dir     string        // of the session, reserved and empty
	Target  string        // in words, without secrets
	Version string        // of redline
	MaxTime time.Duration // 0 is DefaultMaxTime
	// Soak is the longest soak; 0 is DefaultSoak. It ends with MaxTime.
	Soak time.Duration
	// Output takes the target's standard output and error; nil discards them.
	Output     io.Writer
	OnProgress func(Progress) // may be nil; must not block
	// OnEvent, if set, receives the events of the steps' runs, and Follow their recordings.
	OnEvent func(run.Event)
	Follow  run.Follower
}

// Progress is how far a session is.
type Progress struct {
	Text string
	Left time.Duration // at most
	// Within is set if it concerns a step in progress, so that another follows in a
	// moment.
	Within bool
}

// Run measures and answers. If ctx ends, the answer rests on the measurements so
// far and says so; all are kept. The error is for a session that could not be
// measured at all: the target did not start, or nothing can be kept.
func Run(ctx context.Context, o Options) (*knee.Answer, error) {
	if err := check(o.Plan); err != nil {
		return nil, err
	}
	if o.MaxTime <= 0 {
		o.MaxTime = DefaultMaxTime
	}
	if o.MaxTime < leastTime {
		return nil, fmt.Errorf("--max-time %v is too short: the steps need at least %v", o.MaxTime, leastTime)
	}
	if o.Soak <= 0 {
		o.Soak = DefaultSoak
	}
	begin := time.Now()
	log, err := create(o.Dir, knee.Header{
		Schema: headerSchema, Target: o.Target, Plan: o.Plan.Redacted(), Begun: begin, Redline: o.Version, CPUs: runtime.NumCPU(),
	})
	if err != nil {
		return nil, err
	}
	d, err := newDriver(o)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	defer d.close()
	c := &conductor{
		driver: d, log: log, now: func() time.Duration { return time.Since(begin) }, end: o.MaxTime, soak: o.Soak,
		given: knee.Given(o.Plan.Thresholds), show: o.OnProgress,
	}
	ended, err := c.conduct(ctx)
	if err == nil || ctx.Err() != nil && len(log.steps) > 0 {
		return log.finish(ended, ctx.Err() != nil)
	}
	var lost *lostError
	if errors.As(err, &lost) && len(log.steps) > 0 {
		return log.finish(lost.Error(), false)
	}
	return nil, errors.Join(err, log.Close())
}

// check refuses plans without a rate to vary.
func check(p *scenario.Plan) error {
	if p.Load.Replay != nil {
		return errors.New("a replayed log has its own times, and no rate to vary (hint: a URL or a scenario without replay)")
	}
	return nil
}

// Read computes the answer again from a session's log.
func Read(dir string) (*knee.Answer, error) {
	h, steps, end, err := read(dir)
	if err != nil {
		return nil, err
	}
	return knee.Decide(h, steps, end.Ended, end.Interrupted), nil
}

// Kept reports whether a directory holds a session.
func Kept(dir string) bool {
	_, err := os.Stat(dir + string(os.PathSeparator) + headerFile)
	return err == nil
}
