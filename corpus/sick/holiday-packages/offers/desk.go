// Package offers collects offers of partners.
package offers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// Wish is what a traveller wants.
type Wish struct {
	Place          string
	Nights, People int
}

// Offer is what a partner offers.
type Offer struct {
	Partner string `json:"partner"`
	Cents   int    `json:"cents"`
	Rating  int    `json:"rating"`
}

// Package is a holiday.
type Package struct {
	Place  string             `json:"place"`
	Nights int                `json:"nights"`
	Parts  map[string][]Offer `json:"parts"`
	Cents  int                `json:"cents"`
}

// Settings bound what a package may ask for.
type Settings struct {
	Parallel int           // requests under way for one package
	Patience time.Duration // for one partner
	Best     int           // offers kept of each part
}

// Defaults are the settings of the shop.
func Defaults() Settings { return Settings{Parallel: 1, Patience: time.Second, Best: 3} }

// Desk puts packages together.
type Desk struct {
	settings Settings
	partners []partner
}

// NewDesk makes a desk that asks the partners at base.
func NewDesk(base string, s Settings) *Desk {
	c := client()
	d := &Desk{settings: s}
	for _, name := range []string{"flight", "hotel", "transfer", "insurance", "excursion"} {
		d.partners = append(d.partners, partner{name, base + "/" + name, c})
	}
	return d
}

// Package asks all partners and takes the cheapest of each part.
func (d *Desk) Package(ctx context.Context, w Wish) (Package, error) {
	all, err := d.collect(ctx, w)
	if err != nil {
		return Package{}, err
	}
	p := Package{Place: w.Place, Nights: w.Nights, Parts: make(map[string][]Offer, len(all))}
	for i, list := range all {
		slices.SortFunc(list, func(a, b Offer) int { return a.Cents - b.Cents })
		list = list[:min(len(list), d.settings.Best)]
		p.Parts[d.partners[i].name] = list
		if len(list) > 0 {
			p.Cents += list[0].Cents * w.People
		}
	}
	return p, nil
}

// collect asks all partners at once, within the bound.
func (d *Desk) collect(ctx context.Context, w Wish) ([][]Offer, error) {
	all := make([][]Offer, len(d.partners))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(d.settings.Parallel)
	for i, p := range d.partners {
		g.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, d.settings.Patience)
			defer cancel()
			list, err := p.ask(ctx, w)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			all[i] = list
			return nil
		})
	}
	return all, g.Wait()
}
