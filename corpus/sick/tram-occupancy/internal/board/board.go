// Package board has the occupancy of each tram.
package board

import (
	"context"
	"sync"
)

// Seater knows the seats of vehicles.
type Seater interface {
	Seats(ctx context.Context, vehicle int) (int, error)
}

// Tram is a tram on its way.
type Tram struct {
	Vehicle int `json:"vehicle"`
	Seats   int `json:"seats"`
	On      int `json:"on"`
}

// Board has all trams.
type Board struct {
	mu    sync.RWMutex
	trams map[int]Tram
	seats Seater
}

// New makes a board of n trams.
func New(s Seater, n int) *Board {
	b := &Board{trams: make(map[int]Tram, n), seats: s}
	for i := 1; i <= n; i++ {
		b.trams[i] = Tram{Vehicle: i, Seats: 60, On: i % 70}
	}
	return b
}

// Line returns the trams of a line.
func (b *Board) Line(line int) []Tram {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var out []Tram
	for v := line * 10; v < line*10+10; v++ {
		if t, ok := b.trams[v]; ok {
			out = append(out, t)
		}
	}
	return out
}

// Report notes how many passengers got on and off.
func (b *Board) Report(ctx context.Context, vehicle, on, off int) (Tram, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.trams[vehicle]
	var err error
	if t.Seats, err = b.seats.Seats(ctx, vehicle); err != nil {
		return t, err
	}
	t = t.moved(vehicle, on, off)
	b.trams[vehicle] = t
	return t, nil
}

func (t Tram) moved(vehicle, on, off int) Tram {
	t.Vehicle = vehicle
	t.On = max(0, t.On-off) + on
	return t
}

// Checked is a Board that learns the seats first.
type Checked struct{ *Board }

// Report implements web.Board.
func (c Checked) Report(ctx context.Context, vehicle, on, off int) (Tram, error) {
	seats, err := c.seats.Seats(ctx, vehicle)
	if err != nil {
		return Tram{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.trams[vehicle]
	t.Seats = seats
	t = t.moved(vehicle, on, off)
	c.trams[vehicle] = t
	return t, nil
}
