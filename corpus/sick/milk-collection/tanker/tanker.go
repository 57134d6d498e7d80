// Package tanker checks tours.
package tanker

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// Stop is a farm.
type Stop struct {
	Farm    int     `json:"farm"`
	Litres  float64 `json:"litres"`
	Celsius float64 `json:"celsius"`
	Fat     float64 `json:"fat"`
}

// Tour is a tanker's day.
type Tour struct {
	Tanker string `json:"tanker"`
	Stops  []Stop `json:"stops"`
}

// Total is what a tour brings.
type Total struct {
	Litres   float64 `json:"litres"`
	Fat      float64 `json:"fat"`
	Rejected int     `json:"rejected"`
}

// Intake takes tours.
type Intake struct {
	log   *slog.Logger
	tours atomic.Int64
}

// NewIntake makes an Intake.
func NewIntake(log *slog.Logger) *Intake { return &Intake{log: log} }

// Take sums a tour.
func (i *Intake) Take(ctx context.Context, t Tour) Total {
	i.tours.Add(1)
	var sum Total
	for n, s := range t.Stops {
		if !i.accept(ctx, t.Tanker, n, s) {
			sum.Rejected++
			continue
		}
		sum.Litres += s.Litres
		sum.Fat += s.Litres * s.Fat / 100
	}
	return sum
}

func (i *Intake) accept(ctx context.Context, tanker string, n int, s Stop) bool {
	ok := s.Celsius <= 6.5 && s.Fat > 2.5
	i.log.DebugContext(ctx, "stop measured", slog.String("tanker", tanker), slog.Int("stop", n), slog.Int("farm", s.Farm),
		slog.Float64("litres", s.Litres), slog.Float64("celsius", s.Celsius), slog.Float64("fat", s.Fat), slog.Bool("accepted", ok))
	return ok
}
