package windows

import (
	"fmt"
	"slices"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// Resolution is a stretch of a run whose windows were joined into wider ones because the
// run was long. Stretches that are not listed have windows of Run.Window.
type Resolution struct {
	timebase.Span
	Width time.Duration `json:"width_ns"`
}

// A long run keeps its newest windows as they are and joins older ones; ages are counted
// in slots of a minute. A quarter of an hour leaves a run of ten minutes, with its
// warm-up, unchanged.
const (
	slotLength = time.Minute
	// MaxFactor bounds how many windows one value stands for; it fits 16 bits.
	MaxFactor = 1<<16 - 1
)

// Tier is one resolution: values of factor windows each, in files of group
// slots, for windows older than after slots.
type Tier struct {
	Factor int64
	Group  int64
	After  int64
}

// widths are those of the tiers beyond the first. A run of a day has three of
// them; the last keeps a week within the bounds of a reader.
var widths = [...]struct {
	width        time.Duration
	Group, After int64
}{
	{time.Second, 1, 15},
	{10 * time.Second, 10, 60},
	{100 * time.Second, 60, 26 * 60},
}

// TiersOf returns the tiers of a run with windows of the given width, the full
// resolution first. Each factor is a multiple of the one before it. A width that is not
// above the window's makes no tier.
func TiersOf(window time.Duration) []Tier {
	tiers := []Tier{{Factor: 1, Group: 1}}
	for _, w := range widths {
		last := tiers[len(tiers)-1].Factor
		times := int64((w.width + time.Duration(last)*window - 1) / (time.Duration(last) * window))
		if factor := last * times; times > 1 && factor <= MaxFactor {
			tiers = append(tiers, Tier{Factor: factor, Group: w.Group, After: w.After})
		}
	}
	return tiers
}

// SlotWindows returns how many windows a slot holds: a minute of them, rounded
// up to a multiple of 10 s, so that no value of the second tier crosses an edge.
func SlotWindows(window time.Duration) int64 {
	unit := int64(1)
	for _, w := range widths[:2] {
		times := (w.width + time.Duration(unit)*window - 1) / (time.Duration(unit) * window)
		unit *= max(1, int64(times))
	}
	times := (slotLength + time.Duration(unit)*window - 1) / (time.Duration(unit) * window)
	return unit * max(1, int64(times))
}

// FloorDiv returns a/b rounded down, for b > 0.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// grid knows how many windows the values of each slot of a table stand for.
type grid struct {
	slot    int64 // windows of a slot
	factors map[int64]int64
	last    int64 // slot marked last
}

// maxSlots bounds how many slots hold data: two years of minutes.
const maxSlots = 1 << 20

// mark notes that a value of factor windows begins at a window.
func (g *grid) mark(window, factor int64) error {
	slot := FloorDiv(window, g.slot)
	if slot == g.last && g.factors[slot] >= factor {
		return nil
	}
	g.last = slot
	for ; slot*g.slot < window+factor; slot++ {
		g.factors[slot] = max(g.factors[slot], factor)
	}
	if len(g.factors) > maxSlots {
		return fmt.Errorf("values spread over more than %d stretches of %d windows", maxSlots, g.slot)
	}
	return nil
}

// of returns the factor of the slot that holds a window.
func (g *grid) of(window int64) int64 { return max(1, g.factors[FloorDiv(window, g.slot)]) }

// coarsest returns the largest factor of the windows [from, to).
func (g *grid) coarsest(from, to int64) int64 {
	most := int64(1)
	first, last := FloorDiv(from, g.slot), FloorDiv(to-1, g.slot)
	if last-first > int64(len(g.factors)) { // a span far beyond the data
		for slot, factor := range g.factors {
			if slot >= first && slot <= last {
				most = max(most, factor)
			}
		}
		return most
	}
	for slot := first; slot <= last; slot++ {
		most = max(most, g.factors[slot])
	}
	return most
}

// Resolutions lists the stretches of joined windows in order of time. Slots
// without data belong to the stretch around them.
func (g *grid) Resolutions(window time.Duration) []Resolution {
	slots := make([]int64, 0, len(g.factors))
	for slot := range g.factors {
		slots = append(slots, slot)
	}
	slices.Sort(slots)
	var all []Resolution
	before := int64(1)
	for _, slot := range slots {
		factor := g.factors[slot]
		span := timebase.Span{From: timebase.WindowSpan(slot*g.slot, window).From, To: timebase.WindowSpan((slot+1)*g.slot, window).From}
		switch n := len(all); {
		case factor == 1:
		case factor == before:
			all[n-1].To = span.To
		default:
			all = append(all, Resolution{Span: span, Width: time.Duration(factor) * window})
		}
		before = factor
	}
	return all
}

// Resolutions lists the stretches of the table's windows that were joined into wider
// ones, in order of time; nil if none were.
func (t *Table) Resolutions() []Resolution { return t.grid.Resolutions(t.width) }
