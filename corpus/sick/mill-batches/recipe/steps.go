package recipe

import (
	"context"
	"math"
	"time"

	"github.com/sirupsen/logrus"
)

// Step is one step from a recipe to weights.
type Step interface {
	Name() string
	Apply(ctx context.Context, in Portion) Portion
}

type moisture struct{}

func (moisture) Name() string { return "moisture" }

func (moisture) Apply(_ context.Context, p Portion) Portion {
	p.Kilos *= 1 + p.Water/(1-p.Water)*0.4
	return p
}

type loss struct{ part float64 }

func (loss) Name() string { return "loss" }

func (l loss) Apply(_ context.Context, p Portion) Portion {
	p.Kilos /= 1 - l.part
	return p
}

type scale struct{ grain float64 }

func (scale) Name() string { return "scale" }

func (s scale) Apply(_ context.Context, p Portion) Portion {
	p.Kilos = math.Ceil(p.Kilos/s.grain) * s.grain
	return p
}

// observed reports what a step does.
type observed struct {
	Step
	log *logrus.Logger
}

// Apply applies the step, and reports it.
func (o observed) Apply(ctx context.Context, in Portion) Portion {
	begin := time.Now()
	out := o.Step.Apply(ctx, in)
	o.report(in, out, time.Since(begin))
	return out
}

func (o observed) report(in, out Portion, took time.Duration) {
	o.log.WithFields(logrus.Fields{
		"step": o.Name(), "part": in.Part, "from": in.Kilos, "to": out.Kilos, "water": in.Water, "took": took,
	}).Debug("step done")
}
