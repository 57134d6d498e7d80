// Package probetest helps tests of the probe to wait for what no event reports: that another process wrote memory or made
// a file.
package probetest

import (
	"testing"
	"time"
)

// patience is far above what any wait takes on a busy host.
const patience = 5 * time.Minute

// Await calls attempt every few milliseconds until it returns nil. After a generous time the test fails, with what it
// waited for and the last error.
func Await(t testing.TB, what string, attempt func() error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		err := attempt()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s: %v", what, err)
		}
	}
}
