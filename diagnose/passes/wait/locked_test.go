package wait_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
)

// TestLockOfALibrary: the service's function neither locks nor unlocks, so the remedy is not between the two.
func TestLockOfALibrary(t *testing.T) {
	for by, c := range map[string]struct{ frames, remedy string }{
		"golang-lru.(*Cache).Get":     {"github.com/hashicorp/golang-lru/v2.(*Cache[...]).Get", "The lock belongs to golang-lru.(*Cache)"},
		"rand.(*lockedSource).Uint64": {"math/rand.(*lockedSource).Uint64 math/rand.Intn", "The lock belongs to rand.(*lockedSource)"},
		"sync.(*Once).doSlow":         {"sync.(*Once).doSlow sync.(*Once).Do", "Let what the sync.Once at cache.go:41 does happen before"},
	} {
		b := idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(append(strings.Fields(c.frames), get)...)...)
		found := Expect(t, wait.Lock, b, "lock-contention at cache.go:41")
		if len(found) == 1 && (!strings.HasSuffix(found[0].Title, "at cache.go:41, which "+by+" takes") ||
			!strings.HasPrefix(found[0].Remedy, c.remedy)) {
			t.Errorf("%s: %s", found[0].Title, found[0].Remedy)
		}
	}
	own := Expect(t, wait.Lock, idle().Wait(breakdown.StateLock, 30*ms, 1, mutex("github.com/kept/deadlock.(*Mutex).Lock", get)...),
		"lock-contention at cache.go:41")
	if len(own) == 1 && !strings.Contains(own[0].Remedy, "between Lock and Unlock in cache.(*Cache).Get") {
		t.Error(own[0].Remedy)
	}
}

// TestReadersOfAnUnknownWriter: without a mutex profile nobody knows who writes, but not who waits to read.
func TestReadersOfAnUnknownWriter(t *testing.T) {
	b := func() *Builder { return idle().Wait(breakdown.StateLock, 30*ms, 1, "sync.(*RWMutex).RLock", get) }
	for want, b := range map[string]*Builder{
		"under the write lock that cache.(*Cache).Get waits for": b(),
		"the write section in cache.(*Cache).Set":                b().Held(8*s, "sync.(*RWMutex).Unlock", set),
	} {
		if found := Expect(t, wait.Lock, b, "rwlock-writer"); len(found) == 1 && !strings.Contains(found[0].Remedy, want) {
			t.Errorf("%q, want %q", found[0].Remedy, want)
		}
	}
}

// TestLockHeldByAnother: few requests hold a lock for long, and the many that wait then pass it on to each other. The mutex profile
// charges their turns to those that wait; the critical path shows who ran meanwhile.
func TestLockHeldByAnother(t *testing.T) {
	const update, list = "shop/stats.(*Stats).Update", "shop/stats.(*Stats).List"
	held := func(part float64) []breakdown.PathNode {
		own := func(function string, line int, share float64, below ...breakdown.PathNode) breakdown.PathNode {
			return breakdown.PathNode{Kind: breakdown.PathWork, Function: function, File: "/src/shop/stats.go", Line: line, Own: true,
				Share: share, Nodes: below}
		}
		encodes := breakdown.PathNode{Kind: breakdown.PathWork, Function: "encoding/json.Marshal", Share: 0.8 * part}
		runs := breakdown.PathNode{Kind: breakdown.PathState, State: breakdown.StateRunning, Share: 0.8, Nodes: []breakdown.PathNode{
			own("shop/web.all", 3, 0.8*part, own(list, 37, 0.8*part, encodes)), own(update, 19, 0.8*(1-part))}}
		return []breakdown.PathNode{{Kind: breakdown.PathRequest, State: breakdown.StateLock, Function: update, File: "/src/shop/stats.go",
			Line: 17, Own: true, Share: 0.8, Nodes: []breakdown.PathNode{runs}}}
	}
	for part, want := range map[float64]string{0.9: "lock-contention at stats.go:37", 0.3: "lock-contention at stats.go:17"} {
		b := idle().Wait(breakdown.StateRunning, 5*ms, 2).
			Wait(breakdown.StateLock, 32*ms, 1, "sync.(*RWMutex).Lock", update+"@stats.go:17").
			Held(50*time.Second, "sync.(*RWMutex).Unlock", update+"@stats.go:18").Path(held(part))
		Expect(t, wait.Lock, b, want)
	}
}
