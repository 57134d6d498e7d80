// Package trail holds the walks of a region.
package trail

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// Walk is a marked way.
type Walk struct {
	ID    int     `json:"id"`
	Name  string  `json:"name"`
	Km    float64 `json:"km"`
	Climb int     `json:"climb_m"`
	X     float64 `json:"-"`
	Y     float64 `json:"-"`
	Likes int64   `json:"likes"`
}

// cell is a square of the region.
type cell struct{ x, y int }

// Index finds walks near a place. It is never changed once it is published.
type Index struct {
	cells map[cell][]Walk
}

// Near lists walks whose start is at most 0.12 away.
func (i *Index) Near(x, y float64) []Walk {
	var out []Walk
	cx, cy := int(x*10), int(y*10)
	for dx := -1; dx <= 1; dx++ {
		for dy := -1; dy <= 1; dy++ {
			for _, w := range i.cells[cell{cx + dx, cy + dy}] {
				if math.Hypot(w.X-x, w.Y-y) <= 0.12 {
					out = append(out, w)
				}
			}
		}
	}
	return out
}

// Region is all walks, with an index that is made anew now and then.
type Region struct {
	mu    sync.Mutex
	walks []Walk
	fresh bool
	index atomic.Pointer[Index]
}

// NewRegion makes a region of n walks.
func NewRegion(n int) *Region {
	r := &Region{}
	for i := range n {
		r.walks = append(r.walks, Walk{ID: i, Name: fmt.Sprintf("Walk %d", i), Km: 3 + float64(i%170)/10, Climb: i * 7 % 900,
			X: math.Mod(float64(i)*0.618034, 1), Y: math.Mod(float64(i)*0.414214, 1)})
	}
	r.Rebuild()
	return r
}

// Index is the newest index.
func (r *Region) Index() *Index { return r.index.Load() }

// Like counts a like.
func (r *Region) Like(id int) (int64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id < 0 || id >= len(r.walks) {
		return 0, false
	}
	r.walks[id].Likes++
	r.fresh = true
	return r.walks[id].Likes, true
}

// Rebuild makes the index anew if a walk has changed.
func (r *Region) Rebuild() {
	r.mu.Lock()
	if r.index.Load() != nil && !r.fresh {
		r.mu.Unlock()
		return
	}
	r.fresh = false
	walks := append([]Walk(nil), r.walks...)
	r.mu.Unlock()
	i := &Index{cells: make(map[cell][]Walk, 100)}
	for _, w := range walks {
		c := cell{int(w.X * 10), int(w.Y * 10)}
		i.cells[c] = append(i.cells[c], w)
	}
	r.index.Store(i)
}
