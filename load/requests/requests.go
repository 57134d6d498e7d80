package requests

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redline-go/redline/scenario"
)

// Each calls compile for each request of p, in order, and stops at the first error, to
// which it adds the protocol and the request's name (its number, from 1, when it has
// none). A plan without requests is an error.
func Each(protocol string, p *scenario.Plan, compile func(i int, q *scenario.Request) error) error {
	if len(p.Requests) == 0 {
		return fmt.Errorf("%s: the plan has no request", protocol)
	}
	for i := range p.Requests {
		q := &p.Requests[i]
		if err := compile(i, q); err != nil {
			name := q.Name
			if name == "" {
				name = fmt.Sprint(i + 1)
			}
			return fmt.Errorf("%s: request %s: %w", protocol, name, err)
		}
	}
	return nil
}

// OneAtATime returns an error if p wants several messages in progress on a connection, for
// protocols whose answers do not identify their message.
func OneAtATime(protocol string, p *scenario.Plan) error {
	if p.Load.Streams > 1 {
		return fmt.Errorf("%s: a connection carries one message at a time, not %d; take more connections", protocol, p.Load.Streams)
	}
	return nil
}

// Headers returns the set of a request's header names, in lower case. A name that is not an
// HTTP token, one that differs from another only in case, and a value with a control
// character (a line break would begin another header) are errors.
func Headers(headers map[string]scenario.Secret) (given map[string]bool, err error) {
	given = map[string]bool{}
	// Sorted, because a map has no order: the same plan always gives the same error.
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lower := strings.ToLower(name)
		switch {
		case !Token(name):
			return nil, fmt.Errorf("header name %.40q cannot be sent", name)
		case given[lower]:
			return nil, fmt.Errorf("header %s is given twice", name)
		case strings.ContainsFunc(string(headers[name]), control):
			return nil, fmt.Errorf("the value of header %s contains a control character", name)
		}
		given[lower] = true
	}
	return given, nil
}

// Token reports whether s is a token of RFC 9110, section 5.6.2: a method or a header name.
func Token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	})
}

func control(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
