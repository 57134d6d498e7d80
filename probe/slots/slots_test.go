package slots

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestSlots(t *testing.T) {
	read := func(*Figures) {}
	showing := func() (n int) {
		var entries [Max]Entry
		Copy(&entries)
		for _, e := range entries {
			if e.Read != nil {
				n++
			}
		}
		return n
	}
	turns := make([]uint64, Max)
	for i := range Max {
		slot, turn := Add(fmt.Sprint("pool", i), read)
		if slot != i {
			t.Fatalf("pool %d is in slot %d", i, slot)
		}
		turns[i] = turn
	}
	for _, name := range []string{"one too many", ""} {
		if slot, turn := Add(name, read); slot != -1 {
			t.Errorf("%q is in slot %d", name, slot)
		} else {
			Remove(slot, turn)
		}
	}
	if slot, _ := Add("pool3", read); slot != 3 {
		t.Errorf("a pool made anew is in slot %d", slot)
	}
	Remove(3, turns[3]) // that of the first, which is gone already
	if n := showing(); n != Max {
		t.Errorf("%d pools are shown", n)
	}
	Remove(5, turns[5])
	if slot, _ := Add("another", read); slot != -1 || showing() != Max-1 {
		t.Error("a slot lost its name, which the ring keeps")
	}
	if n := testing.AllocsPerRun(100, func() { showing() }); n != 0 {
		t.Errorf("%v allocations per copy", n)
	}
}

// TestFoundPools: each pool that redline's build finds has a name of its own.
func TestFoundPools(t *testing.T) {
	registry.entries = [Max]Entry{}
	names := func() (list []string) {
		var entries [Max]Entry
		Copy(&entries)
		for _, e := range entries {
			if e.Read != nil {
				list = append(list, e.Name)
			}
		}
		return list
	}
	same := func(want ...string) {
		t.Helper()
		if got := names(); !slices.Equal(got, want) {
			t.Errorf("%q are shown, want %q", got, want)
		}
	}
	read := func(f *[7]float64) { f[0] = 3 }
	Show("pgxpool", read)
	remove := Show("sql", read)
	Show("sql", read)
	same("pgxpool", "sql", "sql 2")
	remove()
	same("pgxpool", "sql 2")
	Show("sql", read) // made anew: its series continues
	same("pgxpool", "sql", "sql 2")
	remove() // that of the one before
	same("pgxpool", "sql", "sql 2")
	var f Figures
	registry.entries[1].Read(&f)
	if f.InUse != 3 || !math.IsNaN(f.Most) {
		t.Errorf("figures %+v, want 3 in use and the rest unknown", f)
	}
	if n := testing.AllocsPerRun(100, func() { registry.entries[1].Read(&f) }); n != 0 {
		t.Errorf("%v allocations per sample", n)
	}
	for range 2 * Max {
		Show("many", read)
	}
	if n := len(names()); n != Max {
		t.Errorf("%d are shown, at most %d", n, Max)
	}
}
