// Package feeder holds the data of a scenario: tables of rows or numbers, the
// templates whose placeholders they fill, and the cursors with which each connection
// walks them. Work that each request would repeat is done once, when a template or
// table is made: values are escaped for their context, and tokens signed.
package feeder

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// Table is a feeder: rows of named columns, taken in turn by each connection.
//
// A feeder of numbers has Sequence or Random set instead of Rows, and one
// column. A Table is used by pointer only.
type Table struct {
	Columns []string
	Rows    [][]string
	// Sequence gives each number of the range once, over all connections, and
	// then begins again; nil for none.
	Sequence *Range
	// Random gives evenly distributed numbers of the range; nil for none.
	Random *Range

	taken atomic.Uint64 // numbers of Sequence taken so far
	// Token says that the values are signed tokens; with names the feeder whose row
	// they share, because tokens belong to users; it may be empty.
	Token bool
	with  string
	// TTL is how long the tokens of the feeder live; 0 for other feeders.
	TTL time.Duration
	// Encoded says that the values are parts of URLs already, so that CompileURL
	// escapes nothing.
	Encoded bool
}

// Range is a range of integers, both ends included.
type Range struct {
	From, To int64
}

// at maps any number into the range. The modulo's bias is below range/2^64.
func (r *Range) at(n uint64) int64 {
	size := uint64(r.To) - uint64(r.From) + 1 // 0 when the range is all of int64
	if size == 0 {
		return int64(n)
	}
	return int64(uint64(r.From) + n%size)
}

// Bounds of a feeder.
const (
	MaxRows    = 1 << 20
	MaxColumns = 256
)

// Check refuses a feeder that a Cursor could not walk.
func Check(name string, t *Table) error {
	switch {
	case t == nil || len(t.Columns) == 0:
		return fmt.Errorf("feeder %s has no columns", name)
	case t.Sequence != nil && t.Random != nil || (t.Sequence != nil || t.Random != nil) && len(t.Rows) > 0:
		return fmt.Errorf("feeder %s has more than one source of data", name)
	case t.Sequence != nil && t.Sequence.From > t.Sequence.To || t.Random != nil && t.Random.From > t.Random.To:
		return fmt.Errorf("feeder %s: its range is empty", name)
	case t.Sequence == nil && t.Random == nil && len(t.Rows) == 0:
		return fmt.Errorf("feeder %s has no rows", name)
	case len(t.Rows) > math.MaxInt32:
		return fmt.Errorf("feeder %s has too many rows", name)
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("feeder %s: row %d has %d values for %d columns", name, i+1, len(row), len(t.Columns))
		}
	}
	return nil
}
