// Package slots holds the connection pools that a program shows to redline, by
// name, so that the sampler finds them: the program registers them, through package
// pool, whenever they are made, and the ring's table is fixed by then.
//
// It is separate from package pool so that the sampler, which is linked into every
// target, needs neither database/sql nor anything newer than the Go of 2021.
package slots

import (
	"math"
	"strconv"
	"sync"
)

// Max is how many pools can be shown.
const Max = 16

// Figures is the state of one pool. NaN stands for what its driver does not
// report.
type Figures struct {
	InUse    float64 // connections acquired at present
	Idle     float64
	Most     float64 // connections that the pool may open; 0 means unlimited
	Acquires float64 // since the pool was made
	Waits    float64 // of these, the ones that found no idle connection
	WaitTime float64 // ns spent acquiring, since the pool was made
	Closed   float64 // connections closed by the pool's limits, since then
}

// Unknown returns figures that are all unknown.
func Unknown() Figures {
	n := math.NaN()
	return Figures{n, n, n, n, n, n, n}
}

// Entry is one pool. The zero Entry is a free slot.
type Entry struct {
	Name string
	Read func(*Figures) // nil once the pool was removed
	// Turn distinguishes registrations of the same slot.
	Turn uint64
}

var registry struct {
	sync.Mutex
	entries [Max]Entry
	turn    uint64
}

// Add shows a pool and returns its slot, -1 if all are taken. A known name takes its
// old slot, so that a pool that is made anew continues its series.
func Add(name string, read func(*Figures)) (slot int, turn uint64) {
	registry.Lock()
	defer registry.Unlock()
	slot = -1
	for i := Max - 1; i >= 0; i-- {
		if n := registry.entries[i].Name; n == "" && (slot < 0 || registry.entries[slot].Name != name) || n == name {
			slot = i
		}
	}
	if slot < 0 || name == "" {
		return -1, 0
	}
	registry.turn++
	registry.entries[slot] = Entry{Name: name, Read: read, Turn: registry.turn}
	return slot, registry.turn
}

// Show shows a pool that redline's build found in the program, under a unique name: the
// second of several pools with one name is "name 2". read sets the known figures, in the
// order of Figures. The returned function hides the pool.
//
// No pool is shown twice: redline does not instrument a program that imports the probe.
func Show(name string, read func(*[7]float64)) (remove func()) {
	registry.Lock()
	defer registry.Unlock()
	slot := -1
	for n := 1; slot < 0 && n <= Max; n++ {
		one := name
		if n > 1 {
			one += " " + strconv.Itoa(n)
		}
		slot = free(one)
		if slot >= 0 {
			name = one
		}
	}
	if slot < 0 {
		return func() {}
	}
	registry.turn++
	turn := registry.turn
	var values [7]float64 // not within the function: it would be allocated for each sample
	registry.entries[slot] = Entry{Name: name, Turn: turn, Read: func(f *Figures) {
		for i := range values {
			values[i] = math.NaN()
		}
		read(&values)
		*f = Figures{values[0], values[1], values[2], values[3], values[4], values[5], values[6]}
	}}
	return func() { Remove(slot, turn) }
}

// free returns the slot for a pool that was found: that of its name, if no pool is shown
// there any more, or one without a name; -1 if another pool has the name or all slots
// are taken.
func free(name string) int {
	slot := -1
	for i := Max - 1; i >= 0; i-- {
		switch e := &registry.entries[i]; {
		case e.Name == name && e.Read != nil:
			return -1
		case e.Name == name:
			return i
		case e.Name == "":
			slot = i
		}
	}
	return slot
}

// Remove hides the pool that Add showed, unless another has taken its slot since.
func Remove(slot int, turn uint64) {
	registry.Lock()
	defer registry.Unlock()
	if slot >= 0 && slot < Max && registry.entries[slot].Turn == turn {
		registry.entries[slot].Read = nil
	}
}

// Copy copies the registry, so that its functions are called without its lock.
// It allocates nothing.
func Copy(into *[Max]Entry) {
	registry.Lock()
	defer registry.Unlock()
	*into = registry.entries
}
