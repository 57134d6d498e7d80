package disk

import "sync/atomic"

// lastOpened is package state, which this code otherwise avoids: a panic in a parser
// unwinds everything that knew which file it was in, and the reader of the message has
// a bundle with a hundred files.
var lastOpened atomic.Pointer[string]

// LastOpened returns the path of the bundle file that this process opened last, for the
// report of a panic; "" before the first.
func LastOpened() string {
	if path := lastOpened.Load(); path != nil {
		return *path
	}
	return ""
}
