// Package target gets the service under test: builds it with the probe
// injected, starts it, waits until it is ready, watches it, and ends it. It
// ends only what it started.
package target
