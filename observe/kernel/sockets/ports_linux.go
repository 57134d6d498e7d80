package sockets

import (
	"slices"

	"github.com/redline-go/redline/observe/kernel/tree"
	"github.com/redline-go/redline/record/timebase"
)

// Listening returns the ports that the target listens on. An error wraps an
// *observe.Unsupported if sock_diag is not available.
func Listening(t *tree.Tree) ([]uint16, error) {
	return ports(t, 1<<listen, func(o *owned, s *socket) bool { return s.state == listen && o.inodes[s.inode] })
}

// Connected returns the local ports of connections that the target opened.
func Connected(t *tree.Tree) ([]uint16, error) {
	return ports(t, connected&^(1<<timeWait), func(o *owned, s *socket) bool { return o.has(s) && !o.inwards(s) })
}

// ports returns the local ports of the sockets in some states that wanted selects.
func ports(t *tree.Tree, states uint32, wanted func(*owned, *socket) bool) ([]uint16, error) {
	s := &state{Source: New(), tree: t}
	if err := s.attach(); err != nil {
		return nil, err
	}
	defer func() { s.diag.close() }()
	var found []uint16
	_, _, err := s.diag.dump(query{states: states}, func(c *socket, _ timebase.Span) {
		if wanted(&s.owned, c) && !slices.Contains(found, c.local.Port()) {
			found = append(found, c.local.Port())
		}
	})
	return found, err
}
