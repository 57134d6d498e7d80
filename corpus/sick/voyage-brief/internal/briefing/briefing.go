// Package briefing puts briefings together.
package briefing

import (
	"context"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"
)

// Section is a part of a briefing.
type Section interface {
	Name() string
	Load(ctx context.Context, port string) (string, error)
}

// Part is a loaded section.
type Part struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Briefing is for a port.
type Briefing struct {
	Port  string    `json:"port"`
	At    time.Time `json:"at"`
	Parts []Part    `json:"parts"`
}

// Desk makes briefings.
type Desk struct {
	log      *logrus.Logger
	sections []Section
}

// New makes a desk.
func New(log *logrus.Logger, sections ...Section) *Desk { return &Desk{log, sections} }

// Brief makes the briefing for a port.
func (d *Desk) Brief(ctx context.Context, port string) (*Briefing, error) {
	b := &Briefing{Port: port, At: time.Now().UTC()}
	for _, s := range d.sections {
		text, err := s.Load(ctx, port)
		if err != nil {
			return nil, fmt.Errorf("briefing of %s: %w", port, err)
		}
		b.Parts = append(b.Parts, Part{s.Name(), text})
	}
	d.log.WithField("port", port).Debug("briefed")
	return b, nil
}

// Together is a desk that loads the sections at the same time.
type Together struct{ *Desk }

// Brief makes the briefing for a port.
func (t Together) Brief(ctx context.Context, port string) (*Briefing, error) {
	b := &Briefing{Port: port, At: time.Now().UTC(), Parts: make([]Part, len(t.sections))}
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range t.sections {
		g.Go(func() error {
			text, err := s.Load(ctx, port)
			b.Parts[i] = Part{s.Name(), text}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("briefing of %s: %w", port, err)
	}
	return b, nil
}
