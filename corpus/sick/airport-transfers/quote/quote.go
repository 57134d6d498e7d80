// Package quote computes what a ride costs.
package quote

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/redline-go/redline/corpus/sick/airport-transfers/cache"
)

// Ride is what is asked for.
type Ride struct {
	Airport string
	From    string
	Persons int
	At      time.Time
}

// Zone is what the tariff service says about a route.
type Zone struct {
	State string
	Base  int
}

// Tariff is a client of the tariff service.
type Tariff struct {
	base string
	http *http.Client
}

// NewTariff makes a client.
func NewTariff(base string) *Tariff {
	return &Tariff{base, &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
}

// Zone asks for a route.
func (t *Tariff) Zone(ctx context.Context, airport, from string) (z Zone, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.base+"/zones/"+url.PathEscape(airport+"-"+from), nil)
	if err != nil {
		return z, err
	}
	resp, err := t.http.Do(req)
	if err != nil {
		return z, err
	}
	defer resp.Body.Close()
	var doc struct{ State, Note string }
	err = json.NewDecoder(resp.Body).Decode(&doc)
	return Zone{doc.State, 1200 + len(doc.Note)}, err
}

// Keyer names a ride in the cache.
type Keyer func(Ride) string

// ByRequest is the ride as it was asked for.
func ByRequest(r Ride) string {
	return strings.Join([]string{r.Airport, r.From, r.At.Format(time.RFC3339Nano)}, "|")
}

// ByRoute is the route of a ride.
func ByRoute(r Ride) string { return strings.Join([]string{r.Airport, r.From}, "|") }

// Quoter quotes rides.
type Quoter struct {
	tariff *Tariff
	zones  *cache.Cache[string, Zone]
	key    Keyer
}

// NewQuoter makes a Quoter.
func NewQuoter(t *Tariff, c *cache.Cache[string, Zone], k Keyer) *Quoter { return &Quoter{t, c, k} }

func (q *Quoter) zone(ctx context.Context, r Ride) (Zone, error) {
	k := q.key(r)
	if z, ok := q.zones.Get(k); ok {
		return z, nil
	}
	z, err := q.tariff.Zone(ctx, r.Airport, r.From)
	if err == nil {
		q.zones.Put(k, z)
	}
	return z, err
}

// Quote returns cents.
func (q *Quoter) Quote(ctx context.Context, r Ride) (int, error) {
	z, err := q.zone(ctx, r)
	if err != nil {
		return 0, err
	}
	cents := z.Base + 350*r.Persons
	if r.Persons > 4 {
		cents += 900
	}
	return cents, nil
}
