package session

import (
	"cmp"
	"context"
	"time"

	"github.com/redline-go/redline/run"
)

// observedBlocks is how many times as long as a block a side is observed: 10 s give a CPU profile of a
// thousand samples of a busy CPU.
const observedBlocks = 5

// Observe launches a side once more, with every source, and leaves the bundle of that run in dir. Profiles and
// traces cost what a comparison measures, so this is none of its blocks, and decides nothing.
func (l *Launcher) Observe(ctx context.Context, s Side, dir string) error {
	plan := l.plan(s)
	plan.Load.Duration = observedBlocks * cmp.Or(max(0, l.Duration), blockDuration)
	plan.Load.Warmup = max(plan.Load.Warmup, time.Second) // a first second is dear
	o := run.Options{Plan: plan, Dir: dir, Version: l.Version, Binary: s.Binary}
	if s.Prepare != nil {
		o.Await = func(ctx context.Context) (time.Duration, error) { return 0, s.Prepare(ctx, plan) }
	}
	return run.Run(ctx, o)
}
