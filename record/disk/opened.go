package disk

import "sync/atomic"

// lastOpened is state of the package's own, against the habit of the house: a panic
// in a parser unwinds all that knew which file it was in, and the reader of the
// message has a bundle with a hundred files.
var lastOpened atomic.Pointer[string]

// LastOpened returns the path of the file of a bundle that was opened last by this
// process, for the report of a panic; "" before the first.
func LastOpened() string {
	if path := lastOpened.Load(); path != nil {
		return *path
	}
	return ""
}
