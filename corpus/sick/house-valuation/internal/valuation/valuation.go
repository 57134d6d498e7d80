// Package valuation weighs what is known about a house.
package valuation

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Factor raises or lowers the value.
type Factor struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Points int    `json:"points"`
}

// Source has a factor.
type Source interface {
	Factor(ctx context.Context, parcel string) (Factor, error)
}

// Gatherer asks all sources.
type Gatherer func(ctx context.Context, parcel string, sources []Source) ([]Factor, error)

// Sequence asks one source after another.
func Sequence(ctx context.Context, parcel string, sources []Source) ([]Factor, error) {
	out := make([]Factor, len(sources))
	for i, s := range sources {
		f, err := s.Factor(ctx, parcel)
		if err != nil {
			return nil, err
		}
		out[i] = f
	}
	return out, nil
}

// Together asks all at the same time.
func Together(ctx context.Context, parcel string, sources []Source) ([]Factor, error) {
	out := make([]Factor, len(sources))
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range sources {
		g.Go(func() (err error) {
			out[i], err = s.Factor(ctx, parcel)
			return err
		})
	}
	return out, g.Wait()
}

// Valuer values houses.
type Valuer struct {
	gather  Gatherer
	sources []Source
}

// New makes a Valuer.
func New(g Gatherer, s ...Source) *Valuer { return &Valuer{g, s} }

// Value is the outcome.
type Value struct {
	Parcel  string   `json:"parcel"`
	Points  int      `json:"points"`
	Factors []Factor `json:"factors"`
}

// Value values a parcel.
func (v *Valuer) Value(ctx context.Context, parcel string) (*Value, error) {
	fs, err := v.gather(ctx, parcel, v.sources)
	if err != nil {
		return nil, err
	}
	out := &Value{Parcel: parcel, Factors: fs}
	for _, f := range fs {
		out.Points += f.Points
	}
	return out, nil
}
