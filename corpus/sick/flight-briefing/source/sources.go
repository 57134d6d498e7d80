package source

import (
	"context"
	"fmt"
	"net/url"

	"github.com/redline-go/redline/corpus/sick/flight-briefing/brief"
)

var (
	_ brief.Source   = Weather{}
	_ brief.Source   = Notices{}
	_ brief.Source   = Winds{}
	_ brief.Source   = Fuel{}
	_ brief.Source   = Slots{}
	_ brief.Optional = Slots{}
)

func both(f brief.Flight) url.Values { return url.Values{"ad": {f.From, f.To}} }

// Weather is the reports and forecasts of both aerodromes.
type Weather struct{ Client *Client }

// Title implements brief.Source.
func (Weather) Title() string { return "Weather" }

// Section implements brief.Source.
func (s Weather) Section(ctx context.Context, f brief.Flight) (brief.Section, error) {
	b, err := s.Client.get(ctx, "/metar", both(f))
	return brief.Section{Title: s.Title(), Lines: []string{f.From + " " + b.State, f.To + " " + b.State}}, err
}

// Notices is what has changed at aerodromes and on the way.
type Notices struct{ Client *Client }

// Title implements brief.Source.
func (Notices) Title() string { return "Notices" }

// Section implements brief.Source.
func (s Notices) Section(ctx context.Context, f brief.Flight) (brief.Section, error) {
	b, err := s.Client.get(ctx, "/notam", both(f))
	return brief.Section{Title: s.Title(), Lines: []string{b.Note}}, err
}

// Winds is the winds aloft.
type Winds struct{ Client *Client }

// Title implements brief.Source.
func (Winds) Title() string { return "Winds" }

// Section implements brief.Source.
func (s Winds) Section(ctx context.Context, f brief.Flight) (brief.Section, error) {
	q := both(f)
	q.Set("fl", f.Level)
	b, err := s.Client.get(ctx, "/winds", q)
	return brief.Section{Title: s.Title(), Lines: []string{"FL" + f.Level + " " + b.State}}, err
}

// Fuel is what the flight needs, with a margin.
type Fuel struct {
	Client *Client
	Margin float64
}

// Title implements brief.Source.
func (Fuel) Title() string { return "Fuel" }

// Section implements brief.Source.
func (s Fuel) Section(ctx context.Context, f brief.Flight) (brief.Section, error) {
	b, err := s.Client.get(ctx, "/fuel", both(f))
	return brief.Section{Title: s.Title(), Lines: []string{fmt.Sprintf("%.0f kg, %s", 4200*s.Margin, b.State)}}, err
}

// Slots is when the flight may leave.
type Slots struct{ Client *Client }

// Title implements brief.Source.
func (Slots) Title() string { return "Slots" }

// Optional implements brief.Optional.
func (Slots) Optional() bool { return true }

// Section implements brief.Source.
func (s Slots) Section(ctx context.Context, f brief.Flight) (brief.Section, error) {
	b, err := s.Client.get(ctx, "/slots", url.Values{"from": {f.From}})
	return brief.Section{Title: s.Title(), Lines: []string{b.State}}, err
}
