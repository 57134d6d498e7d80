package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/scenario"
)

// most is how many checks a request may have: one for each bit of the mask.
const most = 64

// Set holds the compiled checks of one request. It is immutable and safe for concurrent
// use.
type Set struct {
	checks []compiled
	body   bool // some check looks at the body
	// longest is the length of the longest text that a check looks for in the body.
	longest int
}

// compiled is one check.
type compiled struct {
	name     string
	status   []int
	header   string // in lower case
	body     bool
	path     *path
	contains []byte
	equals   *string
}

// New compiles the checks of a request; nil if it has none. Errors: a check with no
// condition or several, an invalid JSONPath, more than 64 checks.
func New(r scenario.Request) (*Set, error) {
	if len(r.Checks) == 0 {
		return nil, nil
	}
	if len(r.Checks) > most {
		return nil, fmt.Errorf("%d checks, %d are possible", len(r.Checks), most)
	}
	s := &Set{}
	for _, from := range r.Checks {
		c, err := compile(from)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", from.Name, err)
		}
		s.checks = append(s.checks, c)
		// Bodies that no check looks at are counted and not kept.
		s.body = s.body || c.body || c.path != nil
		if c.body {
			s.longest = max(s.longest, len(c.contains))
		}
	}
	return s, nil
}

// compile refuses a check of several things: it has one bit in the mask, so a
// failure could not say which of them failed.
func compile(from scenario.Check) (compiled, error) {
	c := compiled{
		name: from.Name, status: from.Status, header: strings.ToLower(from.Header), body: from.Body,
		contains: []byte(from.Contains), equals: from.Equals,
	}
	looks := 0
	for _, yes := range []bool{len(from.Status) > 0, from.Header != "", from.Body, from.JSON != ""} {
		if yes {
			looks++
		}
	}
	compares := from.Contains != "" || from.Equals != nil
	switch {
	case looks != 1:
		return c, fmt.Errorf("it looks at %d of status, header, body and json, and must at one", looks)
	case from.Contains != "" && from.Equals != nil:
		return c, fmt.Errorf("contains and equals exclude each other")
	case from.Body && !compares:
		return c, fmt.Errorf("a body is compared with contains or equals")
	case len(from.Status) > 0 && compares:
		return c, fmt.Errorf("a status is one of a list; contains and equals are for the others")
	}
	if from.JSON != "" {
		var err error
		if c.path, err = newPath(from.JSON); err != nil {
			return c, err
		}
	}
	return c, nil
}

// holds reports whether a value satisfies the check. A check that compares nothing
// holds for any value: it only requires that there is one.
func (c *compiled) holds(value []byte) bool {
	if c.equals != nil {
		return string(value) == *c.equals
	}
	return len(c.contains) == 0 || contains(value, c.contains)
}

func (c *compiled) statusHolds(status int) bool { return slices.Contains(c.status, status) }
