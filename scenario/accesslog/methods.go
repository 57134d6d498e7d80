package accesslog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/protocol"
)

// safeMethods are those that a replay sends unless methods are named: they ask for
// nothing but an answer (RFC 9110, section 9.2.1). A log records people's actions,
// and repeating them may charge or delete again.
var safeMethods = []string{"GET", "HEAD", "OPTIONS"}

// overrides are headers that make frameworks treat a request as one with another
// method.
var overrides = []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"}

// Does is the method that the server acts on.
func (e Entry) Does() string {
	for _, h := range e.Headers {
		if slices.Contains(overrides, h.Name) && h.Value != "" {
			if method, err := protocol.CheckMethod(strings.TrimSpace(h.Value)); err == nil {
				return method
			}
			return "unknown" // its text comes from the log, and must not be in a warning
		}
	}
	return e.Method
}

// counts are logged requests by method.
type counts map[string]int

// All is the number of requests, over all methods.
func (c counts) All() (n int) {
	for _, of := range c {
		n += of
	}
	return n
}

// String lists the methods by name: "120 POST, 3 PUT". A log may hold thousands
// of words that could be methods; those beyond a few are counted.
func (c counts) String() string {
	const most = 8
	var parts []string
	rest := 0
	for i, method := range slices.Sorted(maps.Keys(c)) {
		if i < most {
			parts = append(parts, fmt.Sprintf("%d %.20s", c[method], method))
		} else {
			rest += c[method]
		}
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("%d of other methods", rest))
	}
	return strings.Join(parts, ", ")
}

// Writes counts the entries that are not safe.
func Writes(entries []Entry) counts {
	c := counts{}
	for _, e := range entries {
		if method := e.Does(); !slices.Contains(safeMethods, method) {
			c[method]++
		}
	}
	return c
}

// none is the error of a log that leaves nothing to send.
func (l *Log) none(named []string) error {
	switch {
	case len(l.Left) == 0:
		return fmt.Errorf("the log holds no requests to replay")
	case len(named) > 0:
		return fmt.Errorf("the log holds no requests of the methods that --replay-methods or replay.methods names: %s", l.Left)
	}
	return mistake.Newf("name the methods to send with --replay-methods or replay.methods",
		"all requests of the log may change data, and redline does not send those unasked: %s", l.Left)
}
