package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// safeMethods are those that a replay sends unless methods are named: they ask for
// nothing but an answer (RFC 9110, section 9.2.1). A log holds people's actions,
// and to do it again may charge or delete it again.
var safeMethods = []string{"GET", "HEAD", "OPTIONS"}

// overrides are headers by which frameworks take a request for one of another
// method.
var overrides = []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"}

// does is the method that the server acts by.
func (e logEntry) does() string {
	for _, h := range e.headers {
		if slices.Contains(overrides, h.name) && h.value != "" {
			if method, err := checkMethod(strings.TrimSpace(h.value)); err == nil {
				return method
			}
			return "unknown" // whose text is the log's, and not for a warning
		}
	}
	return e.method
}

// counts are logged requests by method.
type counts map[string]int

func (c counts) all() (n int) {
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

// writes counts the entries that are not safe.
func writes(entries []logEntry) counts {
	c := counts{}
	for _, e := range entries {
		if method := e.does(); !slices.Contains(safeMethods, method) {
			c[method]++
		}
	}
	return c
}

// none is the error of a log of which nothing is sent.
func (l *accessLog) none(named []string) error {
	switch {
	case len(l.left) == 0:
		return fmt.Errorf("the log holds no requests to replay")
	case len(named) > 0:
		return fmt.Errorf("the log holds no requests of the methods that --replay-methods or replay.methods names: %s", l.left)
	}
	return mistakef("name the methods to send with --replay-methods or replay.methods", "all requests of the log may change data, and those are not sent unasked: %s", l.left)
}

// warn names the requests of a replay that are left out, and those sent that may change data.
func (l *accessLog) warn(p *Plan, file string, named []string) {
	if n := l.left.all(); n > 0 {
		why := "because they may change data (hint: name the methods to send with --replay-methods or replay.methods)"
		if len(named) > 0 {
			why = "because their methods are not named"
		}
		p.Warnings = append(p.Warnings, fmt.Sprintf("the replay leaves out %d of its %d requests %s: %s", n, n+len(l.entries), why, l.left))
	}
	if w := writes(l.entries); len(w) > 0 {
		p.Load.Replay.Writes = w.String()
		p.Warnings = append(p.Warnings, fmt.Sprintf("the replay sends writes of %s: %s", file, w))
	}
}
