package suppliers

import (
	"context"

	"github.com/go-resty/resty/v2"
)

func init() {
	Register("autohaus", func(c *resty.Client) Supplier { return autohaus{c} })
	Register("bremsen-bauer", func(c *resty.Client) Supplier { return bauer{c, 7} })
	Register("carpoint", func(c *resty.Client) Supplier { return carpoint{c, "EU-2"} })
	Register("delta", func(c *resty.Client) Supplier { return delta{c} })
	Register("ecoparts", func(c *resty.Client) Supplier { return ecoparts{c} })
	Register("fjord", func(c *resty.Client) Supplier { return fjord{c, true} })
}

type autohaus struct{ c *resty.Client }

func (autohaus) Name() string { return "autohaus" }
func (a autohaus) Offer(ctx context.Context, part string) (Offer, error) {
	s, err := look(ctx, a.c, "/autohaus/teile/{part}", map[string]string{"part": part})
	return Offer{a.Name(), 1900 + number(part), 1, s.State}, err
}

type bauer struct {
	c       *resty.Client
	percent int64
}

func (bauer) Name() string { return "bremsen-bauer" }
func (b bauer) Offer(ctx context.Context, part string) (Offer, error) {
	s, err := look(ctx, b.c, "/bauer/v2/items/{part}", map[string]string{"part": part})
	return Offer{b.Name(), (2000 + number(part)) * (100 - b.percent) / 100, 3, s.State}, err
}

type carpoint struct {
	c      *resty.Client
	region string
}

func (carpoint) Name() string { return "carpoint" }
func (p carpoint) Offer(ctx context.Context, part string) (Offer, error) {
	s, err := look(ctx, p.c, "/carpoint/{region}/{part}/price", map[string]string{"part": part, "region": p.region})
	return Offer{p.Name(), 1750 + number(part)*11/10, 2, s.State}, err
}

type delta struct{ c *resty.Client }

func (delta) Name() string { return "delta" }
func (d delta) Offer(ctx context.Context, part string) (Offer, error) {
	s, err := look(ctx, d.c, "/delta/q/{part}", map[string]string{"part": part})
	return Offer{d.Name(), 2100 + number(part)*9/10, 1, s.State}, err
}

type ecoparts struct{ c *resty.Client }

func (ecoparts) Name() string { return "ecoparts" }
func (e ecoparts) Offer(ctx context.Context, part string) (Offer, error) {
	s, err := look(ctx, e.c, "/eco/used/{part}", map[string]string{"part": part})
	return Offer{e.Name(), 900 + number(part)/2, 6, s.State}, err
}

type fjord struct {
	c       *resty.Client
	express bool
}

func (fjord) Name() string { return "fjord" }
func (f fjord) Offer(ctx context.Context, part string) (Offer, error) {
	s, err := look(ctx, f.c, "/fjord/deler/{part}", map[string]string{"part": part})
	o := Offer{f.Name(), 2050 + number(part), 4, s.State}
	if f.express {
		o.Days, o.Cents = 2, o.Cents+350
	}
	return o, err
}
