// Package limits has what an instance may use.
package limits

import (
	"runtime/debug"
	"time"
)

// Limits are set once, when an instance starts.
type Limits struct {
	HeapGrowth    int // percent of the live heap
	Stack         int // bytes
	HeaderTimeout time.Duration
}

// Small is for the instances of a gigabyte, of which there are many.
var Small = Limits{HeapGrowth: 8, Stack: 64 << 20, HeaderTimeout: 5 * time.Second}

// Usual is for all others.
var Usual = Limits{HeapGrowth: 100, Stack: 256 << 20, HeaderTimeout: 5 * time.Second}

// Apply sets the limits of this process.
func (l Limits) Apply() {
	debug.SetGCPercent(l.HeapGrowth)
	debug.SetMaxStack(l.Stack)
}
