package probe

import (
	"testing"
	"time"
)

// deadline yields every few milliseconds until a generous time has passed.
func deadline(t *testing.T) <-chan struct{} {
	t.Helper()
	c := make(chan struct{})
	go func() {
		defer close(c)
		end := time.Now().Add(20 * time.Second)
		for time.Now().Before(end) {
			select {
			case c <- struct{}{}:
			case <-t.Context().Done():
				return
			}
			time.Sleep(2 * time.Millisecond)
		}
	}()
	return c
}
