//go:build !unix

package gctune

// cpuSeconds is not known here: what the runtime counts stands in for it.
func cpuSeconds() (seconds float64, ok bool) { return 0, false }
