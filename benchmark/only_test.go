package benchmark

import (
	"slices"
	"strings"
	"testing"
)

func TestOnly(t *testing.T) {
	all := []string{"pool", "lock"}
	for text, want := range map[string][]string{"": all, "lock": {"lock"}, "lock,pool": {"lock", "pool"}} {
		if got, err := Only("-only", text, all); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := Only("-peers", "lock,queue", all); err == nil || !strings.Contains(err.Error(), `-peers: "queue" is none of pool, lock`) {
		t.Errorf("an unknown part: %v", err)
	}
}
