// Package almanac has what the sky shows at each place.
package almanac

import (
	"errors"
	"fmt"
	"math"
)

// ErrPlace says that a place is not in the book.
var ErrPlace = errors.New("no such place")

// Entry is a day at a place.
type Entry struct {
	Date    string   `json:"date"`
	Rise    float64  `json:"rise"`
	Set     float64  `json:"set"`
	Moon    string   `json:"moon"`
	Planets []string `json:"planets,omitempty"`
}

// Book has all places.
type Book struct{ places [][]*Entry }

var moons = [...]string{"new", "first quarter", "full", "last quarter"}

// New makes a book.
func New(places, days int) *Book {
	b := &Book{places: make([][]*Entry, places)}
	for p := range b.places {
		year := make([]*Entry, days)
		for d := range year {
			swing := 3 * math.Sin(2*math.Pi*float64(d-80)/365) * float64(p%60) / 60
			e := &Entry{Date: fmt.Sprintf("day %d", d+1), Rise: 6 - swing, Set: 18 + swing, Moon: moons[d/7%4]}
			if d%3 == 0 {
				e.Planets = []string{"Venus", "Saturn"}
			}
			year[d] = e
		}
		b.places[p] = year
	}
	return b
}

// Day returns a day of a place.
func (b *Book) Day(place, day int) (*Entry, bool) {
	year, err := b.Year(place)
	if err != nil || day < 1 || day > len(year) {
		return nil, false
	}
	return year[day-1], true
}

// Year returns all days of a place.
func (b *Book) Year(place int) ([]*Entry, error) {
	if place < 0 || place >= len(b.places) {
		return nil, ErrPlace
	}
	return b.places[place], nil
}
