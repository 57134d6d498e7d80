// Package swap values swaps.
package swap

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Dealers know prices.
type Dealers interface {
	Cents(ctx context.Context, dealer string, stamp int) (int, error)
}

// Value is what a swap is worth.
type Value struct {
	Give int  `json:"give"`
	Get  int  `json:"get"`
	Fair bool `json:"fair"`
}

// Desk values swaps.
type Desk struct {
	Dealers Dealers
	Names   []string
}

// Value asks each dealer for both stamps at the same time.
func (d Desk) Value(ctx context.Context, give, get int) (Value, error) {
	offers := [2][]int{make([]int, len(d.Names)), make([]int, len(d.Names))}
	g, ctx := errgroup.WithContext(ctx)
	for side, stamp := range [2]int{give, get} {
		for i, name := range d.Names {
			g.Go(func() (err error) {
				offers[side][i], err = d.Dealers.Cents(ctx, name, stamp)
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return Value{}, err
	}
	v := Value{Give: slices.Max(offers[0]), Get: slices.Max(offers[1])}
	v.Fair = v.Give*10 <= v.Get*11
	return v, nil
}
