package store

import "time"

// Concert is a row of concerts.
type Concert struct {
	ID        int64
	Title     string
	Conductor string
	HeldOn    time.Time
}

// Work is a row of works.
type Work struct {
	ID        int64
	ConcertID int64
	Position  int32
	Composer  string
	Title     string
	Minutes   int32
}

// Part is a row of parts.
type Part struct {
	ID         int64
	WorkID     int64
	Instrument string
	Desks      int32
	Shelf      string
}
