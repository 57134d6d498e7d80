//go:build !unix

package gctune

// cpuSeconds is unknown here: the runtime's counters stand in for it.
func cpuSeconds() (seconds float64, ok bool) { return 0, false }
