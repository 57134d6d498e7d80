package wait_test

import (
	"strings"
	"testing"

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
