package kills

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/redline-go/redline/bench/faults/part"
)

// TestKillsLeaveNothing is a sample of the part: each of the hard shapes once, and
// each ending once.
func TestKillsLeaveNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has subreapers: elsewhere what leaves the target's group gets away")
	}
	binary := filepath.Join(t.TempDir(), "redline")
	// REDLINE_KILLS_BINARY tries another build, such as one from before a mend.
	if other := os.Getenv("REDLINE_KILLS_BINARY"); other != "" {
		binary = other
	} else if out, err := exec.Command("go", "build", "-trimpath", "-o", binary, "../../../cmd/redline").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	at := func(shape, ending int, share float64) plan {
		return plan{number: 10*shape + ending, shape: shapes[shape], ending: endings[ending], at: share, again: 20 * time.Millisecond}
	}
	planned := []plan{at(0, 1, 0.6), at(1, 0, 0.5), at(3, 0, 0.7), at(4, 4, 0.2), at(5, 2, 0.3)}
	b, err := prepare(t.Context(), part.Options{Redline: binary, Scratch: t.TempDir(), Log: t.Output()}, planned)
	if err != nil {
		t.Fatal(err)
	}
	var c counts
	for _, p := range planned {
		begun := time.Now()
		wrong, err := b.try(t.Context(), p, 30*time.Second, &c)
		t.Logf("%v took %v", p, time.Since(begun))
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		for _, w := range wrong {
			t.Errorf("%v: %s", p, w)
		}
	}
	if c.endings != 5 {
		t.Errorf("%d of 5 signals reached a run", c.endings)
	}
}

// TestPlansAreOfTheirSeed: a failure of the bench can be tried again, and every
// pair of a shape and an ending gets its turn.
func TestPlansAreOfTheirSeed(t *testing.T) {
	pairs := map[string]int{}
	again := plans(Part.Asked, 7)
	for i, p := range plans(Part.Asked, 7) {
		if p.String() != again[i].String() || p.again != again[i].again {
			t.Errorf("%v and %v of one seed", p, again[i])
		}
		pairs[p.shape.name+p.ending.name]++
	}
	if len(pairs) != len(shapes)*len(endings) {
		t.Errorf("%d pairs of %d", len(pairs), len(shapes)*len(endings))
	}
}
