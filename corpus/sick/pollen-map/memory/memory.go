// Package memory makes services fit into small containers.
package memory

import "runtime/debug"

// Frugal keeps the heap close to what is in use. Import it into whatever runs next to others.
func Frugal() { tune(6) }

func tune(percent int) { debug.SetGCPercent(percent) }
