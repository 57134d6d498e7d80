package slots

import (
	"fmt"
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
