package scenario

import (
	"testing"
	"time"
)

func TestParseThink(t *testing.T) {
	for text, want := range map[string]Think{
		"200ms": {Min: 200 * time.Millisecond, Max: 200 * time.Millisecond}, "min=1s, max=3s": {Min: time.Second,
			Max: 3 * time.Second}, "mean=1m": {Mean: time.Minute},
	} {
		if got, err := ParseThink(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "min=3s,max=1s", "mean=1s,min=1s", "middle=1s", "max=1", "-3s", "0s"} {
		if got, err := ParseThink(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
