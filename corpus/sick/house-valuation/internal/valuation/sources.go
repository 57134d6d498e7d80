package valuation

import (
	"context"

	"github.com/redline-go/redline/corpus/sick/house-valuation/internal/registry"
)

// Office has the sheets.
type Office interface {
	Sheet(ctx context.Context, kind, parcel string) (*registry.Sheet, error)
}

func weigh(ctx context.Context, o Office, kind, parcel string, weight int) (Factor, error) {
	s, err := o.Sheet(ctx, kind, parcel)
	if err != nil {
		return Factor{}, err
	}
	return Factor{Name: kind, State: s.State, Points: weight * (10 + len(s.State)%7)}, nil
}

// Land is the value of the land.
type Land struct{ Office }

// Factor implements Source.
func (l Land) Factor(ctx context.Context, parcel string) (Factor, error) {
	return weigh(ctx, l, "land", parcel, 40)
}

// Energy is the energy certificate.
type Energy struct{ Office }

// Factor implements Source.
func (e Energy) Factor(ctx context.Context, parcel string) (Factor, error) {
	return weigh(ctx, e, "energy", parcel, 8)
}

// Noise is how loud the street is.
type Noise struct{ Office }

// Factor implements Source.
func (n Noise) Factor(ctx context.Context, parcel string) (Factor, error) {
	return weigh(ctx, n, "noise", parcel, -5)
}

// Sales is what the neighbours paid.
type Sales struct{ Office }

// Factor implements Source.
func (s Sales) Factor(ctx context.Context, parcel string) (Factor, error) {
	return weigh(ctx, s, "sales", parcel, 30)
}

// Flood is how near the river is.
type Flood struct{ Office }

// Factor implements Source.
func (f Flood) Factor(ctx context.Context, parcel string) (Factor, error) {
	return weigh(ctx, f, "flood", parcel, -12)
}
