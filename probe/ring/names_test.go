package ring

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestNamesAreSetOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	named := []Column{{Name: "pool.in_use", Labels: "pool", Named: 2, Kind: Gauge, Unit: One}}
	w, err := Create(path, header, named, 8)
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, path)
	if r.Columns[0] != named[0] {
		t.Errorf("column %+v", r.Columns[0])
	}
	long := strings.Repeat("x", MaxNameText)
	for i, name := range map[int]string{0: "a", 1: "orders\x1b[2J", MaxNames - 1: long + "beyond"} {
		if got, err := r.Name(i); got != "" || err != nil {
			t.Errorf("name %d before it is set: %q, %v", i, got, err)
		}
		if err := w.Name(i, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Name(0, "another"); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]string{0: "a", 1: "orders[2J", MaxNames - 1: long, 5: ""} {
		if got, err := r.Name(i); got != want || err != nil {
			t.Errorf("name %d: %q, %v, want %q", i, got, err, want)
		}
	}
	for _, i := range []int{-1, MaxNames} {
		if _, err := r.Name(i); err == nil || w.Name(i, "x") == nil {
			t.Errorf("there is a name %d", i)
		}
	}
	if w.Name(3, "") == nil {
		t.Error("a name of nothing is taken")
	}
	if n := testing.AllocsPerRun(100, func() { _ = w.Name(7, "orders") }); n != 0 {
		t.Errorf("%v allocations per name", n)
	}
	if w.Close() != nil || w.Name(4, "late") == nil {
		t.Error("a closed ring takes names")
	}
	if _, err := Create(path, header, []Column{{Name: "x", Named: MaxNames + 1}}, 8); err == nil {
		t.Error("a column of a name that cannot be is taken")
	}
}
