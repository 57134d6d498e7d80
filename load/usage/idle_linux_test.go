package usage

import (
	"testing"
	"time"
)

func TestIdleTimeOfAllowedCPUs(t *testing.T) {
	const stat = "cpu  9 9 9 900 9 0 0 0 0 0\n" +
		"cpu0 1 2 3 100 7 0 0 0 0 0\ncpu1 1 2 3 200 0 0 0 0 0 0\ncpu2 1 2\ncpux 1 2 3 4 5 6\nintr 1 2 3 4 5 6\n"
	for name, c := range map[string]struct {
		stat    string
		allowed func(int) bool
		want    time.Duration
	}{
		"all":     {stat, func(int) bool { return true }, 3070 * time.Millisecond},
		"one":     {stat, func(cpu int) bool { return cpu == 1 }, 2 * time.Second},
		"garbage": {"cpu0 a b c d e\n\n\x00", func(int) bool { return true }, 0},
	} {
		if got := idleTime([]byte(c.stat), c.allowed); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	var i Idle
	if _, ok := i.CPUs(); ok {
		t.Error("known at the first reading")
	}
}
