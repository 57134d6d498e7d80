package sockets

import (
	"net/netip"

	"github.com/redline-go/redline/observe/kernel/tree"
	"github.com/redline-go/redline/record/timebase"
)

// maxEnds bounds the connections of the namespace that are compared.
const maxEnds = 1 << 16

// Ends finds the sockets at the other ends, on this host, of the connections that the
// target opened. It is not safe for concurrent use.
type Ends struct{ state *state }

// End is such a socket: an accepted one, or one that listens where the target connected to.
type End struct {
	// Inode identifies the socket in the descriptors of its process; 0 while it is not accepted.
	Inode uint32
	// Port is the port that the target connected to.
	Port uint16
}

// OpenEnds opens sock_diag in the network namespace of the tree, which remains the caller's. An error
// wraps an *observe.Unsupported.
func OpenEnds(t *tree.Tree) (*Ends, error) {
	s := &state{Source: New(), tree: t}
	if err := s.attach(); err != nil {
		if s.diag != nil {
			s.lose()
		}
		return nil, err
	}
	return &Ends{s}, nil
}

// Close releases sock_diag.
func (e *Ends) Close() {
	if e.state.diag != nil {
		e.state.lose()
	}
}

// Look returns the other ends at this moment. The kernel walks its table of connections, so call it at
// most once per second. An end in another network namespace or on another host is not found.
func (e *Ends) Look() ([]End, error) {
	s := e.state
	if s.diag == nil {
		if err := s.reopen(); err != nil {
			return nil, err
		}
	}
	if err := s.owned.look(s.tree); err != nil {
		return nil, err
	}
	if err := s.findListeners(); err != nil {
		s.lose()
		return nil, err
	}
	var c compared
	_, whole, err := s.diag.dump(query{states: 1<<listen | connected&^(1<<timeWait)}, func(one *socket, _ timebase.Span) {
		c.take(&s.owned, one)
	})
	if err != nil || !whole {
		s.lose() // the kernel may still be busy with the dump
	}
	if err != nil {
		return nil, err
	}
	return c.ends(), nil
}

// way is a connection as one end sees it.
type way struct{ local, remote netip.AddrPort }

// compared gathers one dump, in which the order of sockets is the kernel's.
type compared struct {
	opened    map[way]bool   // by the target
	strange   map[way]uint32 // inodes of other processes' sockets
	listeners []End          // of other processes
	at        []netip.AddrPort
}

// take adds one socket.
func (c *compared) take(o *owned, s *socket) {
	if c.opened == nil {
		c.opened, c.strange = map[way]bool{}, map[way]uint32{}
	}
	switch {
	case len(c.opened)+len(c.strange)+len(c.at) >= maxEnds:
	case s.state == listen:
		if !o.inodes[s.inode] {
			c.listeners = append(c.listeners, End{Inode: s.inode, Port: s.local.Port()})
			c.at = append(c.at, s.local)
		}
	case !o.has(s):
		c.strange[way{s.local, s.remote}] = s.inode
	case !o.inwards(s):
		c.opened[way{s.local, s.remote}] = true
	}
}

// ends returns the sockets that face one of the target's.
func (c *compared) ends() (ends []End) {
	called := map[netip.AddrPort]bool{} // addresses of this host
	for w := range c.opened {
		// Loopback, and equal addresses at both ends, are this host's.
		if to := w.remote.Addr(); to.IsLoopback() || to == w.local.Addr() {
			called[w.remote] = true
		}
		if inode, here := c.strange[way{w.remote, w.local}]; here {
			ends = append(ends, End{Inode: inode, Port: w.remote.Port()})
		}
	}
	for i, l := range c.listeners {
		for to := range called {
			if to.Port() == l.Port && (c.at[i].Addr().IsUnspecified() || c.at[i].Addr() == to.Addr()) {
				ends = append(ends, l)
				break
			}
		}
	}
	return ends
}
