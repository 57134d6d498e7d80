// Package resort reports the snow of ski resorts.
package resort

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/redline-go/redline/corpus/sick/snow-report/ttl"
)

// ErrUnknown is returned for a resort that has no station.
var ErrUnknown = errors.New("resort: unknown")

// Report is the snow of a resort.
type Report struct {
	Resort   string    `json:"resort"`
	Unit     string    `json:"unit"`
	Valley   float64   `json:"valley"`
	Mountain float64   `json:"mountain"`
	Fresh    float64   `json:"fresh"`
	Lifts    string    `json:"lifts"`
	Quality  string    `json:"quality"`
	Measured time.Time `json:"measured"`
}

// Inches returns the report in inches.
func (r Report) Inches() Report {
	in := func(cm float64) float64 { return math.Round(cm/2.54*10) / 10 }
	r.Unit, r.Valley, r.Mountain, r.Fresh = "in", in(r.Valley), in(r.Mountain), in(r.Fresh)
	return r
}

func quality(fresh, mountain float64) string {
	switch {
	case mountain < 20:
		return "bare in places"
	case fresh > 15:
		return "powder"
	case fresh > 3:
		return "fresh"
	}
	return "packed"
}

// Reports makes reports of what stations measure.
type Reports struct {
	stations *Stations
	recent   *ttl.Cache[string, Report]
}

// NewReports makes reports, and keeps recent ones.
func NewReports(stations *Stations, recent *ttl.Cache[string, Report]) *Reports {
	return &Reports{stations, recent}
}

// Of returns the report of a resort.
func (r *Reports) Of(ctx context.Context, resort string) (Report, error) {
	if _, ok := sites[resort]; !ok {
		return Report{}, ErrUnknown
	}
	return r.recent.Remember(resort, func() (Report, error) {
		m, err := r.stations.Measure(ctx, resort)
		if err != nil {
			return Report{}, err
		}
		return Report{
			Resort: resort, Unit: "cm", Valley: m.valley, Mountain: m.mountain, Fresh: m.fresh,
			Lifts: m.lifts, Quality: quality(m.fresh, m.mountain), Measured: m.at,
		}, nil
	})
}
