package goroutines

import (
	"testing"
	"time"

	"github.com/redline-go/redline/anatomy/interned"
)

// A goroutine syncs a hundred records. The disk takes 200 us for each; most calls last longer
// because the thread waits for a CPU afterwards. Its short writes come from another place.
func TestCallsAlone(t *testing.T) {
	const write, sync interned.Stack = 1, 2
	var one, two Calls
	for i := range 100 {
		took := 200 * time.Microsecond
		if i%4 != 0 {
			took += time.Duration(i) * 100 * time.Microsecond
		}
		c := &one
		if i%2 == 0 {
			c = &two
		}
		c.add(sync, took)
		c.add(write, 10*time.Microsecond)
	}
	one.Merge(&two)
	if got, want := one.Took(), 25*200*time.Microsecond+75*200*time.Microsecond+375*time.Millisecond+time.Millisecond; got != want {
		t.Errorf("took %v, want %v", got, want)
	}
	if got, want := one.Alone(), 100*210*time.Microsecond; got != want {
		t.Errorf("alone %v, want %v", got, want)
	}
}

// Calls from places beyond the bound count with their own duration, and none is lost.
func TestCallsOfManyPlaces(t *testing.T) {
	var all, more Calls
	for i := range interned.Stack(2 * maxCallSites) {
		all.add(i, time.Millisecond)
		more.add(i+maxCallSites, time.Millisecond)
	}
	all.Merge(&more)
	if all.Took() != 4*maxCallSites*time.Millisecond || all.Alone() != all.Took() || len(all.sites) != maxCallSites {
		t.Errorf("took %v, alone %v, %d places", all.Took(), all.Alone(), len(all.sites))
	}
	var none Calls
	if none.Took() != 0 || none.Alone() != 0 {
		t.Error("no calls take time")
	}
}
