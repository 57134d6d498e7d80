package feeder

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Cursor is one connection's place in every feeder of a plan. Next moves all
// of them at once, so that placeholders of one request, {{user.uid}} in the URL and
// {{user.token}} in a header, come from the same row.
//
// Rows are taken in turn, from a start that the seed chooses, so that
// connections do not ask for the same row in lockstep. Random numbers depend only
// on the seed. All connections share a sequence: it gives each of its numbers once
// before it begins again.
//
// A feeder of tokens stands on the row of the feeder that its claims name. A
// replay's rows are not taken in turn: Seek sets them.
//
// A Cursor is not safe for concurrent use; many cursors of one plan are.
type Cursor struct {
	feeders []position
	replay  int // index of the replay's feeder; -1 for none
}

// position is a cursor's place in one feeder.
type position struct {
	table  *Table
	row    int   // current row of a table of rows
	number int64 // current number of a sequence or random feeder
	rng    *rand.PCG
}

// NewCursor makes a cursor over feeders by name that stands on a first row:
// Append may follow at once. replay names the feeder that Seek moves; empty for
// none. The same seed gives the same rows and random numbers.
func NewCursor(tables map[string]*Table, replay string, seed uint64) *Cursor {
	c := &Cursor{replay: -1}
	names := Names(tables)
	for i, name := range names {
		f := position{table: tables[name], rng: rand.NewPCG(seed, uint64(i))}
		if n := len(f.table.Rows); n > 0 {
			f.row = int(f.rng.Uint64() % uint64(n))
		}
		if name == replay {
			c.replay, f.row = i, 0
		}
		f.draw()
		c.feeders = append(c.feeders, f)
	}
	for i := range c.feeders {
		// Both have equally many rows, so Next keeps them together.
		if at := slices.Index(names, c.feeders[i].table.with); at >= 0 {
			c.feeders[i].row = c.feeders[at].row
		}
	}
	return c
}

// Seek puts the replay's feeder on a row (Replay.Row of the entry that is due)
// and leaves the others where they are. Next does not move it. Without a
// replay it does nothing. It allocates nothing; a row that is not of the
// feeder panics when it is rendered.
func (c *Cursor) Seek(row int) {
	if c.replay >= 0 {
		c.feeders[c.replay].row = row
	}
}

// Next moves every feeder but a replay's to its next row. It allocates nothing.
func (c *Cursor) Next() {
	for i := range c.feeders {
		if i == c.replay {
			continue
		}
		f := &c.feeders[i]
		if f.row++; f.row >= len(f.table.Rows) {
			f.row = 0
		}
		f.draw()
	}
}

// draw takes the next number of a feeder of numbers.
func (f *position) draw() {
	switch {
	case f.table.Sequence != nil:
		f.number = f.table.Sequence.at(f.table.taken.Add(1) - 1)
	case f.table.Random != nil:
		f.number = f.table.Random.at(f.rng.Uint64())
	}
}

// Names returns the feeders in the order of Cursor.feeders.
func Names(tables map[string]*Table) []string { return slices.Sorted(maps.Keys(tables)) }
