package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"
)

// ErrUpstream says that the weather service did not answer well.
var ErrUpstream = errors.New("weather service")

// Spot is a place that somebody asks for.
type Spot struct {
	Lat, Lon float64
	Units    string
	Trace    string // of the request, passed on to the weather service
}

// Forecast is the weather of a spot.
type Forecast struct {
	State string  `json:"state"`
	Sun   float64 `json:"sun"`
	Sit   bool    `json:"sit"`
}

// round brings a coordinate to the grid of the weather service.
func round(degrees float64) float64 { return math.Round(degrees*10) / 10 }

// Forecasts remembers the weather service's answers for ten minutes.
type Forecasts struct {
	base   string
	client *http.Client
	cache  *expirable.LRU[string, Forecast]
	key    func(Spot) string
}

// NewForecasts asks the weather service at base.
func NewForecasts(base string, size int) (*Forecasts, error) {
	if size <= 0 {
		return nil, fmt.Errorf("cache of %d entries", size)
	}
	f := &Forecasts{
		base:   base,
		client: &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		cache:  expirable.NewLRU[string, Forecast](size, nil, 10*time.Minute),
		key:    func(s Spot) string { return fmt.Sprintf("%+v", s) },
	}
	if os.Getenv("FIXED") != "" {
		f.key = func(s Spot) string { return fmt.Sprintf("%.1f,%.1f,%s", s.Lat, s.Lon, s.Units) }
	}
	return f, nil
}

// At returns the forecast of a spot.
func (f *Forecasts) At(ctx context.Context, s Spot) (Forecast, error) {
	key := f.key(s)
	if got, ok := f.cache.Get(key); ok {
		return got, nil
	}
	got, err := f.fetch(ctx, s)
	if err != nil {
		return got, err
	}
	f.cache.Add(key, got)
	return got, nil
}

func (f *Forecasts) fetch(ctx context.Context, s Spot) (Forecast, error) {
	url := fmt.Sprintf("%s/grid?lat=%.1f&lon=%.1f&units=%s", f.base, s.Lat, s.Lon, s.Units)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Forecast{}, err
	}
	req.Header.Set("X-Trace", s.Trace)
	res, err := f.client.Do(req)
	if err != nil {
		return Forecast{}, errors.Join(ErrUpstream, err)
	}
	defer res.Body.Close()
	var out Forecast
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		return out, errors.Join(ErrUpstream, err)
	}
	out.Sun = math.Abs(math.Sin(s.Lat + s.Lon))
	out.Sit = out.Sun > 0.4
	return out, nil
}
