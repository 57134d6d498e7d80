package breakdown

import (
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// During is what the requests of one trace did, or of adjacent traces if a run has many:
// the size that the parts of Anatomy.All have there. Its bands are its own: its median
// requests, and its slowest.
type During struct {
	timebase.Span
	Requests int           `json:"requests"` // counted
	MeanNS   time.Duration `json:"mean_ns"`
	MedianNS time.Duration `json:"median_ns"`
	TailNS   time.Duration `json:"tail_ns"`
	All      []Piece       `json:"all"`
	Median   []Piece       `json:"median"`
	Tail     []Piece       `json:"tail"`
}

// Piece is a part of the mean request of a band of During.
type Piece struct {
	Part  int     `json:"part"` // its index in Anatomy.All
	NS    int64   `json:"ns"`
	Times float64 `json:"times"` // per request
}

// Named is what the marked requests of one name of a mix did, in the parts of Anatomy.All: the largest 30 of each band.
type Named struct {
	Name     string        `json:"name"`
	Requests int           `json:"requests"` // marked: a random sample
	MeanNS   time.Duration `json:"mean_ns"`
	MedianNS time.Duration `json:"median_ns"`
	TailNS   time.Duration `json:"tail_ns"`
	All      []Piece       `json:"all"`
	Median   []Piece       `json:"median"`
	Tail     []Piece       `json:"tail"`
}
