// Package brief puts the parts of a briefing together.
package brief

import (
	"context"
	"fmt"
	"time"
)

// Flight is what a briefing is for.
type Flight struct{ From, To, Level string }

// Section is a part of a briefing.
type Section struct {
	Title string   `json:"title"`
	Lines []string `json:"lines"`
}

// Briefing is what a pilot reads.
type Briefing struct {
	Route    string    `json:"route"`
	At       time.Time `json:"at"`
	Sections []Section `json:"sections"`
}

// Source writes one section.
type Source interface {
	Title() string
	Section(ctx context.Context, f Flight) (Section, error)
}

// Optional is a source whose failure a briefing survives.
type Optional interface{ Optional() bool }

// Desk asks its sources.
type Desk struct{ sources []Source }

// NewDesk makes a desk; the sections of a briefing have the order of the sources.
func NewDesk(sources ...Source) *Desk { return &Desk{sources} }

// Prepare makes the briefing of a flight.
func (d *Desk) Prepare(ctx context.Context, f Flight) (*Briefing, error) {
	b := &Briefing{Route: f.From + " - " + f.To, At: time.Now().UTC()}
	for _, src := range d.sources {
		s, err := src.Section(ctx, f)
		if err != nil {
			if o, ok := src.(Optional); ok && o.Optional() {
				s = Section{Title: src.Title(), Lines: []string{"not available"}}
			} else {
				return nil, fmt.Errorf("%s: %w", src.Title(), err)
			}
		}
		b.Sections = append(b.Sections, s)
	}
	return b, nil
}
