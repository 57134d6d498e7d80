// Command bid-scoring rates advertisements. To stay small in its container the process
// was told to collect at a growth of five per cent; its live heap is some ten megabytes,
// so that the collector hardly ever stops.
package main

import (
	"log"
	"runtime/debug"
	"sort"
	"strconv"

	"github.com/valyala/fasthttp"
)

type keyword struct {
	text   string
	weight float64
	also   *keyword
}

type campaign struct {
	id       int
	keywords map[string]*keyword
	budget   *float64
}

type score struct {
	campaign *campaign
	offer    *offer
	features []float64
	value    float64
	why      string
}

type inventory struct {
	campaigns []*campaign
	bySite    map[string][]*campaign
}

func stock() *inventory {
	inv := &inventory{bySite: map[string][]*campaign{}}
	for id := range 6000 {
		left := float64(100 + id)
		c := &campaign{id: id, keywords: map[string]*keyword{}, budget: &left}
		var last *keyword
		for k := range 16 {
			last = &keyword{text: "kw-" + strconv.Itoa((id+k*31)%400), weight: float64(k) / 16, also: last}
			c.keywords[last.text] = last
		}
		inv.campaigns = append(inv.campaigns, c)
		site := "site-" + strconv.Itoa(id%120)
		inv.bySite[site] = append(inv.bySite[site], c)
	}
	return inv
}

func words(text []byte) (list []string) {
	for _, w := range []string{"3", "17", "42", "80"} {
		list = append(list, "kw-"+w)
	}
	return append(list, "kw-"+string(text))
}

// features are what is known of a campaign for one request.
func features(c *campaign, asked []string) []float64 {
	f := make([]float64, 7)
	for i, w := range asked {
		if k := c.keywords[w]; k != nil {
			f[i] = k.weight
		}
	}
	f[5], f[6] = *c.budget, float64(len(c.keywords))
	return f
}

// offer is what a campaign would pay, in the currencies of its account.
type offer struct {
	eur, usd, gbp, chf float64
	capped             bool
}

func price(c *campaign, f []float64) *offer {
	o := &offer{eur: f[5] / 1000, capped: f[5] < 150}
	for _, v := range f[:5] {
		o.eur += v
	}
	o.usd, o.gbp, o.chf = o.eur*1.08, o.eur*0.86, o.eur*0.95
	return o
}

func explain(c *campaign, o *offer) string {
	return "campaign " + strconv.Itoa(c.id) + " at " + strconv.FormatFloat(o.eur, 'f', 3, 64) + " of " + strconv.Itoa(int(*c.budget))
}

func rate(c *campaign, asked []string) *score {
	f := features(c, asked)
	o := price(c, f)
	return &score{campaign: c, offer: o, features: f, value: o.eur, why: explain(c, o)}
}

func (inv *inventory) best(site string, asked []string) []*score {
	var all []*score
	for _, c := range inv.bySite[site] {
		all = append(all, rate(c, asked))
	}
	sort.Slice(all, func(i, j int) bool { return all[i].value > all[j].value })
	return all
}

func (inv *inventory) serve(c *fasthttp.RequestCtx) {
	args := c.QueryArgs()
	top := inv.best(string(args.Peek("site")), words(args.Peek("q")))
	if len(top) == 0 {
		c.SetStatusCode(fasthttp.StatusNoContent)
		return
	}
	body := strconv.AppendInt(nil, int64(top[0].campaign.id), 10)
	c.SetBody(append(append(body, ' '), top[0].why...))
}

func main() {
	debug.SetGCPercent(5)
	log.Fatal((&fasthttp.Server{Handler: stock().serve, Name: "bids"}).ListenAndServe("127.0.0.1:9868"))
}
