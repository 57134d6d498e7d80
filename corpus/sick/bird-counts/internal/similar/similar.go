// Package similar knows which species are seen where others are.
package similar

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/corpus/sick/bird-counts/internal/sightings"
)

// Near is a species and how alike its squares are, 0 to 1.
type Near struct {
	Species int
	Alike   float64
}

// Table is the nearest of each species. It is never changed once it is published.
type Table struct {
	At   time.Time
	near [][]Near
}

// Of lists up to n species that are near i.
func (t *Table) Of(i, n int) []Near { return t.near[i][:min(n, len(t.near[i]))] }

// Keeper publishes tables.
type Keeper struct {
	book  *sightings.Book
	table atomic.Pointer[Table]
	rows  [][]float32
	norm  []float64
}

// NewKeeper makes a keeper with a first table.
func NewKeeper(b *sightings.Book) *Keeper {
	k := &Keeper{book: b, rows: make([][]float32, b.Len()), norm: make([]float64, b.Len())}
	for i := range k.rows {
		k.rows[i] = make([]float32, sightings.Squares)
	}
	b.Marked()
	k.Full()
	return k
}

// Table is the newest table.
func (k *Keeper) Table() *Table { return k.table.Load() }

// Run calls refresh every so often until ctx ends.
func (k *Keeper) Run(ctx context.Context, every time.Duration, refresh func()) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			refresh()
		}
	}
}

func (k *Keeper) load(i int) {
	k.book.Row(i, k.rows[i])
	sum := 0.0
	for _, v := range k.rows[i] {
		sum += float64(v) * float64(v)
	}
	k.norm[i] = math.Sqrt(sum)
}

func (k *Keeper) rank(i int) []Near {
	list := make([]Near, 0, len(k.rows)-1)
	a := k.rows[i]
	for j, b := range k.rows {
		if j == i {
			continue
		}
		dot := 0.0
		for s := range a {
			dot += float64(a[s]) * float64(b[s])
		}
		list = append(list, Near{j, dot / (k.norm[i]*k.norm[j] + 1e-9)})
	}
	slices.SortFunc(list, func(x, y Near) int {
		return cmp.Or(cmp.Compare(y.Alike, x.Alike), cmp.Compare(x.Species, y.Species))
	})
	return slices.Clone(list[:min(12, len(list))])
}

// Full computes all rows of the table.
func (k *Keeper) Full() {
	for i := range k.rows {
		k.load(i)
	}
	t := &Table{At: time.Now(), near: make([][]Near, len(k.rows))}
	for i := range t.near {
		t.near[i] = k.rank(i)
	}
	k.table.Store(t)
}

// Partly computes the rows of those species that were counted since.
func (k *Keeper) Partly() {
	marked := k.book.Marked()
	if len(marked) == 0 {
		return
	}
	for _, i := range marked {
		k.load(i)
	}
	t := &Table{At: time.Now(), near: slices.Clone(k.Table().near)}
	for _, i := range marked {
		t.near[i] = k.rank(i)
	}
	k.table.Store(t)
}
