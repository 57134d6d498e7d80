// Package gauges checks reports of gauges.
package gauges

import (
	"context"
	"errors"
	"math"

	"go.uber.org/zap"
)

// ErrReport says that a report makes no sense.
var ErrReport = errors.New("report")

// Reading is one of a report.
type Reading struct {
	At      int64   `json:"at"`
	Level   float64 `json:"level"`
	Flow    float64 `json:"flow"`
	Quality string  `json:"quality"`
}

// Readings stores readings.
type Readings interface {
	Save(ctx context.Context, gauge int, list []Reading) error
}

// Service takes reports.
type Service struct {
	Readings Readings
	Log      *zap.Logger
}

// Report is what a gauge sends: the levels of the last minutes.
type Report struct {
	Start  int64     `json:"start"`
	Step   int64     `json:"step"`
	Levels []float64 `json:"levels"`
}

// Accept stores a report and returns how many of its readings are doubtful.
func (s Service) Accept(ctx context.Context, gauge int, rep Report) (int, error) {
	if rep.Step <= 0 || len(rep.Levels) == 0 || len(rep.Levels) > 500 {
		return 0, ErrReport
	}
	list := make([]Reading, len(rep.Levels))
	doubtful := 0
	for i, level := range rep.Levels {
		r := Reading{At: rep.Start + int64(i)*rep.Step, Level: level, Flow: flow(level), Quality: "good"}
		if i > 0 && math.Abs(level-rep.Levels[i-1]) > 0.5 {
			r.Quality = "jump"
			doubtful++
		}
		list[i] = r
	}
	if doubtful > len(list)/2 {
		s.Log.Warn("doubtful report", zap.Int("gauge", gauge), zap.Int("jumps", doubtful))
	}
	return doubtful, s.Readings.Save(ctx, gauge, list)
}

// flow is the formula of a broad weir.
func flow(level float64) float64 { return 1.7 * 12 * math.Pow(max(0, level-0.4), 1.5) }
