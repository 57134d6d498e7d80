package scenario

import (
	"testing"
	"time"

	"github.com/redline-go/redline/scenario/accesslog"
)

// TestReplayLength: a log that takes longer than a load may is replayed faster, or not at all.
func TestReplayLength(t *testing.T) {
	entries := []accesslog.Entry{{At: 0, Method: "GET"}, {At: int64(48 * time.Hour), Method: "GET"}}
	if _, err := newReplay(entries, 1); err == nil {
		t.Error("a log of two days at its own speed")
	}
	if b, err := newReplay(entries, 4); err != nil || b.replay.At[1] != 12*time.Hour {
		t.Errorf("%v, %v", b, err)
	}
}
