// Package seating counts sold tickets by seat.
package seating

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

const (
	rows = 18
	wide = 24
)

// Ticket is a sold seat.
type Ticket struct {
	Row, Seat uint8
	Cents     int32
}

// Tally is what each seat sold.
type Tally interface {
	At(row, seat int) (sold int, cents int64)
}

// Archive has the tickets of a week.
type Archive struct {
	mu      sync.Mutex
	screens [][]Ticket
}

// Open loads the tickets of n screens.
func Open(n int) *Archive {
	rnd := rand.New(rand.NewPCG(7, 11))
	a := &Archive{}
	for range n {
		var ts []Ticket
		for range 4000 {
			ts = append(ts, Ticket{uint8(rnd.IntN(rows)), uint8(rnd.IntN(wide)), int32(900 + 50*rnd.IntN(9))})
		}
		a.screens = append(a.screens, ts)
	}
	return a
}

// Screens returns how many screens there are.
func (a *Archive) Screens() int { return len(a.screens) }

// Week returns the tickets of a screen.
func (a *Archive) Week(screen int) []Ticket {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.screens[screen-1]
}

type sum struct {
	sold  int
	cents int64
}

type named map[string]sum

func seatName(row, seat int) string { return fmt.Sprintf("%c%02d", 'A'+row, seat+1) }

func (n named) At(row, seat int) (int, int64) {
	s := n[seatName(row, seat)]
	return s.sold, s.cents
}

// Count counts tickets by the name of the seat.
func Count(tickets []Ticket) Tally {
	n := make(named, rows*wide)
	for _, t := range tickets {
		key := seatName(int(t.Row), int(t.Seat))
		s := n[key]
		s.sold++
		s.cents += int64(t.Cents)
		n[key] = s
	}
	return n
}

type grid [rows][wide]sum

func (g *grid) At(row, seat int) (int, int64) { return g[row][seat].sold, g[row][seat].cents }

// CountSeats counts tickets by place.
func CountSeats(tickets []Ticket) Tally {
	g := new(grid)
	for _, t := range tickets {
		g[t.Row][t.Seat].sold++
		g[t.Row][t.Seat].cents += int64(t.Cents)
	}
	return g
}
