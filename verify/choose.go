package verify

import (
	"errors"
	"fmt"
	"slices"

	"github.com/redline-go/redline/scenario"
)

// Choose returns the metrics of a plan: the defaults of its load's model as the
// scenario changes them. Choosing a metric that the model does not have is an
// error.
func Choose(p *scenario.Plan) ([]Metric, error) {
	metrics := Metrics(p.Load.Open())
	for _, c := range p.Verify {
		i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == c.Metric })
		switch {
		case i < 0:
			return nil, fmt.Errorf("verify: %s is not a metric of this load: the rate sets it, so it is not measured", c.Metric)
		case c.Off:
			metrics = slices.Delete(metrics, i, i+1)
			continue
		}
		metrics[i].Advisory, metrics[i].Asked = c.Advisory, true
		if c.Margin > 0 {
			metrics[i].Margin = c.Margin
		}
	}
	if len(metrics) == 0 {
		return nil, errors.New("verify: every metric is off")
	}
	return metrics, nil
}
