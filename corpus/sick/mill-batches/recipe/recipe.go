// Package recipe turns recipes into weights.
package recipe

import (
	"context"
	"fmt"
	"sort"

	"github.com/sirupsen/logrus"
)

// Portion is how much of one part goes in.
type Portion struct {
	Part  string  `json:"part"`
	Kilos float64 `json:"kilos"`
	Water float64 `json:"-"`
}

// Plan is a batch.
type Plan struct {
	Recipe   string    `json:"recipe"`
	Portions []Portion `json:"portions"`
	Total    float64   `json:"total"`
	Sacks    int       `json:"sacks"`
}

// Planner plans batches.
type Planner struct {
	log   *logrus.Logger
	steps []Step
	parts map[string][]Portion
}

// NewPlanner makes a planner whose steps report to log.
func NewPlanner(log *logrus.Logger) *Planner {
	p := &Planner{log: log, parts: map[string][]Portion{}}
	for _, s := range []Step{moisture{}, loss{0.013}, scale{0.005}} {
		p.steps = append(p.steps, observed{s, log})
	}
	grains := []string{"oats", "rye", "spelt", "raisins", "hazelnuts", "linseed", "apple", "barley", "honey", "salt", "bran", "figs"}
	for r := range 8 {
		var list []Portion
		for i := range 9 {
			list = append(list, Portion{grains[(r+i)%len(grains)], float64(1+(r*7+i*3)%11) / 60, float64(4+i) / 100})
		}
		p.parts[fmt.Sprintf("muesli-%d", r+1)] = list
	}
	return p
}

// Plan plans a batch of a recipe.
func (p *Planner) Plan(ctx context.Context, recipe string, kilos float64) (Plan, error) {
	parts, ok := p.parts[recipe]
	if !ok {
		return Plan{}, fmt.Errorf("no recipe %q", recipe)
	}
	plan := Plan{Recipe: recipe, Portions: make([]Portion, 0, len(parts))}
	for _, part := range parts {
		part.Kilos *= kilos
		for _, s := range p.steps {
			part = s.Apply(ctx, part)
		}
		plan.Portions = append(plan.Portions, part)
		plan.Total += part.Kilos
	}
	sort.Slice(plan.Portions, func(i, j int) bool { return plan.Portions[i].Kilos > plan.Portions[j].Kilos })
	plan.Sacks = int(plan.Total/25) + 1
	if plan.Total > 1.4*kilos {
		p.log.WithField("recipe", recipe).Warn("losses are high")
	}
	return plan, nil
}
