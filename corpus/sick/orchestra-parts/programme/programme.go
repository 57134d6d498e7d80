// Package programme draws up the sheets that librarians lay parts out by.
package programme

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/corpus/sick/orchestra-parts/store"
)

// ErrNoConcert is returned for a concert that nobody planned.
var ErrNoConcert = errors.New("programme: no such concert")

// Reader reads what sheets are made of.
type Reader interface {
	GetConcert(ctx context.Context, id int64) (store.Concert, error)
	ListWorksByConcert(ctx context.Context, concertID int64) ([]store.Work, error)
	ListPartsByWork(ctx context.Context, workID int64) ([]store.Part, error)
}

var _ Reader = (*store.Queries)(nil)

// Sheet is a concert as librarians see it.
type Sheet struct {
	Title     string         `json:"title"`
	Conductor string         `json:"conductor"`
	Date      string         `json:"date"`
	Minutes   int            `json:"minutes"`
	Desks     map[string]int `json:"desks"`
	Works     []Entry        `json:"works"`
}

// Entry is a work of a sheet.
type Entry struct {
	Composer string `json:"composer"`
	Title    string `json:"title"`
	Parts    []Part `json:"parts"`
}

// Part is where the music for an instrument lies.
type Part struct {
	Instrument string `json:"instrument"`
	Desks      int    `json:"desks"`
	Shelf      string `json:"shelf"`
}

// Service makes sheets.
type Service struct{ from Reader }

// NewService makes sheets of what from reads.
func NewService(from Reader) *Service { return &Service{from} }

// Sheet makes the sheet of a concert.
func (s *Service) Sheet(ctx context.Context, id int64) (*Sheet, error) {
	c, err := s.from.GetConcert(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoConcert
	}
	if err != nil {
		return nil, fmt.Errorf("concert %d: %w", id, err)
	}
	works, err := s.from.ListWorksByConcert(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("works of %d: %w", id, err)
	}
	sheet := &Sheet{
		Title: c.Title, Conductor: c.Conductor, Date: c.HeldOn.Format("2 January 2006"), Desks: map[string]int{},
	}
	for _, w := range works {
		e, err := s.entry(ctx, w)
		if err != nil {
			return nil, err
		}
		sheet.add(w, e)
	}
	return sheet, nil
}

func (s *Service) entry(ctx context.Context, w store.Work) (Entry, error) {
	parts, err := s.from.ListPartsByWork(ctx, w.ID)
	if err != nil {
		return Entry{}, fmt.Errorf("parts of %d: %w", w.ID, err)
	}
	e := Entry{Composer: w.Composer, Title: w.Title}
	for _, p := range parts {
		e.Parts = append(e.Parts, Part{p.Instrument, int(p.Desks), p.Shelf})
	}
	return e, nil
}

// add puts a work at the end. An instrument has as many desks as the work that
// wants most of it.
func (s *Sheet) add(w store.Work, e Entry) {
	s.Minutes += int(w.Minutes)
	for _, p := range e.Parts {
		s.Desks[p.Instrument] = max(s.Desks[p.Instrument], p.Desks)
	}
	s.Works = append(s.Works, e)
}
