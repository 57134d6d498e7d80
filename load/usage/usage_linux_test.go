package usage

import (
	"testing"
	"time"
)

// TestParseWaited: what is no line of schedstat is no figure.
func TestParseWaited(t *testing.T) {
	for line, want := range map[string]waited{
		"8000000 120000 45\n": {120 * time.Microsecond, 45}, "8000000 0 1": {0, 1},
	} {
		if got, ok := parseWaited([]byte(line)); !ok || got != want {
			t.Errorf("%q: %+v, %t, want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "0 0", "1 x 3", "1 2 y"} {
		if got, ok := parseWaited([]byte(line)); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}
