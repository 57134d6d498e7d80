// Package snow rates how well the layers of snow hold.
package snow

import (
	"context"
	"errors"
	"math"
)

var errDensity = errors.New("density is not positive")

// Layer is a centimetre of a profile.
type Layer struct {
	Density, Grain, Temp float64
}

// Rating is the outcome.
type Rating struct {
	Station int     `json:"station"`
	Layers  int     `json:"layers"`
	Weakest int     `json:"weakest"`
	Margin  float64 `json:"margin"`
}

// Rater rates profiles.
type Rater struct{ each Runner }

// NewRater makes a Rater.
func NewRater(r Runner) *Rater { return &Rater{r} }

// Profile returns the layers of a station.
func Profile(station int) []Layer {
	out := make([]Layer, 1200)
	for i := range out {
		out[i] = Layer{120 + float64((i*13+station*7)%260), 0.3 + float64((i+station)%9)/4, -float64(i%17) / 2}
	}
	return out
}

// Rate finds the weakest layer.
func (r *Rater) Rate(ctx context.Context, station int) (*Rating, error) {
	layers := Profile(station)
	margin := make([]float64, len(layers))
	err := r.each.Run(ctx, len(layers), func(i int) error {
		l := layers[i]
		if l.Density <= 0 {
			return errDensity
		}
		margin[i] = math.Sqrt(l.Density)*(1-l.Temp/40)/l.Grain - float64(i)/300
		return nil
	})
	if err != nil {
		return nil, err
	}
	w := 0
	for i := range margin {
		if margin[i] < margin[w] {
			w = i
		}
	}
	return &Rating{station, len(layers), w, math.Round(margin[w]*1000) / 1000}, nil
}
