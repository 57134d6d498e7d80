package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// conflict is a mistake of a plan as a whole: keys that are well formed and
// make no sense together. at is the key that is wrong, such as "load.think" or
// "requests[2].follow", so that a file's error can point at it.
type conflict struct {
	mistake
	at string
}

func conflictf(at, hint, format string, args ...any) error {
	return &conflict{mistake{fmt.Sprintf(format, args...), hint}, at}
}

// remember keeps where the keys of a section stand.
func (d *decoder) remember(section string, seen map[string]ast.Node) {
	for name, n := range seen {
		key := name
		if section != "" {
			key = section + "." + name
		}
		d.nodes[key] = n
	}
}

// conflict notes an error of Validate at its key, or at that of the section
// when the key is not there. False means that it has no place.
func (d *decoder) conflict(err error) bool {
	var c *conflict
	if !errors.As(err, &c) {
		return false
	}
	section, _, _ := strings.Cut(c.at, ".")
	n := orNode(d.nodes[c.at], d.nodes[section])
	if n == nil {
		return false
	}
	d.fail(n, c.hint, "%s", c.msg)
	return true
}

// requestSection is the section of a request's keys.
func requestSection(index int) string { return "requests[" + strconv.Itoa(index) + "]" }
