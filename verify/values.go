package verify

import (
	"math"

	"github.com/redline-go/redline/stat"
)

// Value is one metric of one version of the service, by itself.
type Value struct {
	Metric
	Value float64
	// Low and High are the limits of its 95 % interval; NaN where it is not known.
	Low, High float64
}

// BlockValues returns the median block of each metric that all blocks deliver,
// with the signed-rank interval of where that lies.
func BlockValues(blocks []Block, metrics []Metric) (out []Value) {
	for _, m := range metrics {
		logs, ok := m.logs(blocks)
		if !ok {
			continue
		}
		v := Value{Metric: m, Value: math.Exp(stat.Median(logs)), Low: math.NaN(), High: math.NaN()}
		if _, low, high, known := stat.SignedRankInterval(logs, 0.95); known {
			v.Low, v.High = math.Exp(low), math.Exp(high)
		}
		out = append(out, v)
	}
	return out
}

// logs returns the logarithms of a metric's values; ok is false when a block
// lacks it: a metric counts whole or not at all.
func (m Metric) logs(blocks []Block) (out []float64, ok bool) {
	for _, b := range blocks {
		v := m.Of(b)
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, false
		}
		out = append(out, math.Log(v))
	}
	return out, len(out) > 0
}
