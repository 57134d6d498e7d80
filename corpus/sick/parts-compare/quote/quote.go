// Package quote compares the offers of suppliers.
package quote

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/redline-go/redline/corpus/sick/parts-compare/suppliers"
)

// ErrNobody says that no supplier made an offer.
var ErrNobody = errors.New("no offers")

// Desk asks suppliers.
type Desk struct {
	Suppliers []suppliers.Supplier
	Width     int
	Patience  time.Duration
	Missed    func(name string, err error)
}

// Compare lists the offers for part, the cheapest first.
func (d *Desk) Compare(ctx context.Context, part string) ([]suppliers.Offer, error) {
	ctx, cancel := context.WithTimeout(ctx, d.Patience)
	defer cancel()
	offers, err := d.gather(ctx, part)
	if err != nil {
		return nil, err
	}
	offers = slices.DeleteFunc(offers, func(o suppliers.Offer) bool { return o.State != "ok" })
	if len(offers) == 0 {
		return nil, ErrNobody
	}
	slices.SortFunc(offers, func(a, b suppliers.Offer) int {
		return cmp.Or(cmp.Compare(a.Cents, b.Cents), cmp.Compare(a.Days, b.Days))
	})
	return offers, nil
}

func (d *Desk) gather(ctx context.Context, part string) ([]suppliers.Offer, error) {
	offers := make([]suppliers.Offer, len(d.Suppliers))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(d.Width)
	for i, s := range d.Suppliers {
		g.Go(func() error {
			o, err := s.Offer(ctx, part)
			if err != nil {
				d.Missed(s.Name(), err)
				return nil
			}
			offers[i] = o
			return nil
		})
	}
	return offers, g.Wait()
}
