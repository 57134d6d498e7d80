// Package survey sums dives up.
package survey

import (
	"context"
	"errors"
	"math"

	"github.com/redline-go/redline/corpus/sick/reef-surveys/internal/store"
)

// ErrNone says that nobody dived at a reef.
var ErrNone = errors.New("no dives")

// Dives has dives.
type Dives interface {
	OfReef(ctx context.Context, reef, limit int) ([]store.Dive, error)
	Fill(ctx context.Context, list []store.Dive) error
}

// Report is what is known about a reef.
type Report struct {
	Reef      int          `json:"reef"`
	Dives     []store.Dive `json:"dives"`
	Diversity float64      `json:"diversity"`
}

// Service makes reports.
type Service struct{ Dives Dives }

// Report returns the report of a reef.
func (s Service) Report(ctx context.Context, reef int) (*Report, error) {
	list, err := s.Dives.OfReef(ctx, reef, 40)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, ErrNone
	}
	if err := s.Dives.Fill(ctx, list); err != nil {
		return nil, err
	}
	return &Report{reef, list, shannon(list)}, nil
}

func shannon(list []store.Dive) float64 {
	seen, total := map[string]int{}, 0
	for _, d := range list {
		for _, c := range d.Counts {
			seen[c.Species] += c.Seen
			total += c.Seen
		}
	}
	var h float64
	for _, n := range seen {
		if p := float64(n) / float64(total); p > 0 {
			h -= p * math.Log(p)
		}
	}
	return math.Round(h*1000) / 1000
}
