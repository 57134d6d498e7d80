package sockets

import (
	"bytes"
	"net/netip"
	"strconv"

	"github.com/redline-go/redline/observe/kernel/tree"
)

const (
	// maxDescriptors bounds the listing of one process.
	maxDescriptors = 1 << 17
	// maxPeers bounds the destinations that are remembered.
	maxPeers = 1024
)

// owned identifies the target's sockets.
type owned struct {
	inodes map[uint32]bool         // of its sockets, as its descriptors show
	ports  map[uint16]bool         // it listens on
	peers  map[netip.AddrPort]bool // it connected to, so far
}

// look lists the descriptors of all processes. The error is the first process's;
// others may belong to another user or have ended.
func (o *owned) look(t *tree.Tree) error {
	inodes := make(map[uint32]bool, len(o.inodes))
	var first error
	for i, p := range t.Members {
		_, err := p.Links("fd", maxDescriptors, func(target []byte) {
			if inode, ok := Inode(target); ok {
				inodes[inode] = true
			}
		})
		if i == 0 {
			first = err
		}
	}
	if first == nil {
		o.inodes = inodes
	}
	return first
}

// Inode returns the inode of the socket that the link of a descriptor leads to, "socket:[1234]"; ok is false if it is none.
func Inode(target []byte) (inode uint32, ok bool) {
	digits, ok := bytes.CutPrefix(target, []byte("socket:["))
	if !ok || !bytes.HasSuffix(digits, []byte("]")) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(digits[:len(digits)-1]), 10, 32)
	return uint32(n), err == nil
}

// inwards reports whether a connection came in through a port that the target
// listens on.
func (o *owned) inwards(s *socket) bool { return o.ports[s.local.Port()] }

// toSelf reports whether the target opened a connection to itself: towards an
// address of this host and a port on which it listens.
func (o *owned) toSelf(s *socket) bool {
	remote := s.remote.Addr().Unmap()
	return !o.inwards(s) && o.ports[s.remote.Port()] && (remote.IsLoopback() || remote == s.local.Addr().Unmap())
}

// has reports whether a socket is the target's. Those in TIME_WAIT no longer belong to
// a process; the target's are recognised by port and destination.
func (o *owned) has(s *socket) bool {
	if o.inwards(s) {
		return true
	}
	if s.state == timeWait {
		return o.peers[s.remote]
	}
	if !o.inodes[s.inode] || s.inode == 0 {
		return false
	}
	if o.peers == nil {
		o.peers = map[netip.AddrPort]bool{}
	}
	if len(o.peers) < maxPeers {
		o.peers[s.remote] = true
	}
	return true
}
