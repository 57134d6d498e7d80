// Package practice knows the practices that animals are referred to.
package practice

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrUnknown is returned for a practice that the registry does not list.
var ErrUnknown = errors.New("practice: unknown")

// Profile is what the registry says of a practice.
type Profile struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Open     bool     `json:"open"`
	Species  []string `json:"species"`
	WaitDays int      `json:"wait_days"`
}

// Takes reports whether the practice treats a species.
func (p Profile) Takes(species string) bool { return p.Open && slices.Contains(p.Species, species) }

// Due is the day on which an animal referred at the time now will be seen.
func (p Profile) Due(now time.Time, urgent bool) time.Time {
	days := p.WaitDays
	if urgent {
		days = 1
	}
	return now.AddDate(0, 0, days).Truncate(24 * time.Hour)
}

// Fetcher reads profiles from where they are kept.
type Fetcher interface {
	Fetch(ctx context.Context, id string) (Profile, error)
}

type entry struct {
	profile Profile
	until   time.Time
}

// Directory remembers profiles for a while. It is safe for concurrent use.
type Directory struct {
	from Fetcher
	ttl  time.Duration

	mu      sync.RWMutex
	entries map[string]entry
}

// NewDirectory remembers what from answers for ttl.
func NewDirectory(from Fetcher, ttl time.Duration) *Directory {
	return &Directory{from: from, ttl: ttl, entries: map[string]entry{}}
}

// Lookup returns the profile of a practice.
func (d *Directory) Lookup(ctx context.Context, id string) (Profile, error) {
	d.mu.RLock()
	e, ok := d.entries[id]
	d.mu.RUnlock()
	if ok && time.Now().Before(e.until) {
		return e.profile, nil
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	// Another request may have read it in the meantime.
	if e, ok := d.entries[id]; ok && time.Now().Before(e.until) {
		return e.profile, nil
	}
	p, err := d.from.Fetch(ctx, id)
	if err != nil {
		return Profile{}, err
	}
	d.entries[id] = entry{p, time.Now().Add(d.ttl)}
	return p, nil
}
