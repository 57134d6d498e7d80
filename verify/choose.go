package verify

import (
	"errors"
	"fmt"
	"slices"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/criteria"
)

// Choose returns the metrics of a plan: the defaults of its load's model as the
// scenario changes them. Where it names primary ones, these decide and no others.
// Choosing a metric that the model does not have is an error.
func Choose(p *scenario.Plan) ([]Metric, error) {
	metrics := Metrics(p.Load.Open())
	named := slices.ContainsFunc(p.Verify, func(c criteria.Comparison) bool { return c.Primary })
	for i := range metrics {
		metrics[i].Advisory = metrics[i].Advisory || named
	}
	for _, c := range p.Verify {
		i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == c.Metric })
		switch {
		case i < 0:
			return nil, fmt.Errorf("verify: %s is not a metric of this load: the rate sets it, so it is not measured", c.Metric)
		case c.Off:
			metrics = slices.Delete(metrics, i, i+1)
			continue
		}
		metrics[i].Advisory, metrics[i].Asked, metrics[i].Guard = c.Advisory || named && !c.Primary, true, false
		if c.Margin > 0 {
			metrics[i].Margin = c.Margin
		}
	}
	if len(metrics) == 0 {
		return nil, errors.New("verify: every metric is off")
	}
	return metrics, nil
}
