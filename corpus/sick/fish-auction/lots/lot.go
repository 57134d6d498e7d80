// Package lots is what is sold in the hall: boxes of fish, and the bids on them.
package lots

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Errors of a lot.
var (
	ErrUnknown = errors.New("lots: unknown")
	ErrTooLow  = errors.New("lots: the bid is not above the last one")
)

// Box is one box of a lot.
type Box struct {
	Grade string  `json:"grade"`
	Kilos float64 `json:"kilos"`
}

// Bid is what a buyer offers per kilo, in cents.
type Bid struct {
	Buyer string    `json:"buyer"`
	Cents int       `json:"cents"`
	At    time.Time `json:"at"`
}

// Lot is a number of boxes that are sold together.
type Lot struct {
	ID      int               `json:"id"`
	Species string            `json:"species"`
	Vessel  string            `json:"vessel"`
	Port    string            `json:"port"`
	Boxes   []Box             `json:"boxes"`
	Bids    []Bid             `json:"bids"`
	Marks   map[string]string `json:"marks"`
	Landed  *time.Time        `json:"landed"`
}

// Clone implements Cloner.
func (l Lot) Clone() Lot {
	l.Boxes = slices.Clone(l.Boxes)
	l.Bids = slices.Clone(l.Bids)
	l.Marks = maps.Clone(l.Marks)
	if l.Landed != nil {
		at := *l.Landed
		l.Landed = &at
	}
	return l
}

// Kilos is what all boxes weigh.
func (l *Lot) Kilos() (sum float64) {
	for _, b := range l.Boxes {
		sum += b.Kilos
	}
	return sum
}

// Best is the highest bid in cents; zero if nobody has offered.
func (l *Lot) Best() int {
	if len(l.Bids) == 0 {
		return 0
	}
	return l.Bids[len(l.Bids)-1].Cents
}

// Offer adds a bid, which must be above the last one.
func (l *Lot) Offer(b Bid) error {
	if b.Cents <= l.Best() {
		return ErrTooLow
	}
	l.Bids = append(l.Bids, b)
	if len(l.Bids) > 12 {
		l.Bids = slices.Delete(l.Bids, 0, len(l.Bids)-12)
	}
	return nil
}

var (
	species = []string{"cod", "haddock", "plaice", "hake", "monkfish", "turbot", "ling", "sole"}
	ports   = []string{"Peterhead", "Lerwick", "Hanstholm", "Urk", "Vigo"}
	gear    = []string{"trawl", "seine", "line", "gillnet"}
)

// Morning is a catch of n lots.
func Morning(n int) []Lot {
	dawn := time.Date(2026, 3, 2, 4, 30, 0, 0, time.UTC)
	catch := make([]Lot, 0, n)
	for i := 1; i <= n; i++ {
		landed := dawn.Add(time.Duration(i) * time.Minute / 4)
		l := Lot{
			ID: i, Species: species[i%len(species)], Port: ports[i%len(ports)],
			Vessel: fmt.Sprintf("BF %d", 100+i%43), Landed: &landed,
			Marks: map[string]string{
				"gear": gear[i%len(gear)], "zone": fmt.Sprintf("IV%c", 'a'+rune(i%3)),
				"ice": "flake", "cert": fmt.Sprintf("MSC-%05d", 31*i%9973), "tally": fmt.Sprint(i % 7),
			},
		}
		for b := range 3 + i%6 {
			l.Boxes = append(l.Boxes, Box{Grade: fmt.Sprintf("A%d", 1+b%4), Kilos: 18 + float64((i*b)%24)/2})
		}
		for b := range i % 5 {
			l.Bids = append(l.Bids, Bid{Buyer: fmt.Sprintf("buyer-%d", (i+b)%60), Cents: 210 + i%300 + 5*b, At: landed})
		}
		catch = append(catch, l)
	}
	return catch
}
