package sockets

import (
	"encoding/binary"
	"maps"
	"slices"
)

// maxFilter bounds the ports of one filter; beyond it, the kernel lists
// all sockets and we select among them.
const maxFilter = 64

// Operations of inet_diag's filters (include/uapi/linux/inet_diag.h). The test of
// equality is newer than the two comparisons.
const (
	opJump       = 1
	opLocalFrom  = 2 // the local port is at least the one that follows
	opLocalUpTo  = 3
	opRemoteFrom = 4
	opRemoteUpTo = 5
)

// portFilter makes the program by which the kernel selects sockets: those on one
// of the local ports, or connected to one of the remote ones. It is nil, which selects
// all, if there are none or too many.
//
// A program is a sequence of struct inet_diag_bc_op {code, yes u8; no u16}, yes and no
// being the offsets of the next step, in bytes. A jump exactly to the end selects the
// socket, and one 4 bytes beyond it refuses it.
func portFilter(local, remote []uint16) []byte {
	const (
		comparison = 8 // two steps: the operation, and the port in place of an operation
		jump       = 4
		clause     = 2*comparison + jump
	)
	if n := len(local) + len(remote); n == 0 || n > maxFilter {
		return nil
	}
	var program []byte
	left := clause * (len(local) + len(remote))
	op := func(code, yes byte, no int) {
		program = append(program, code, yes)
		program = binary.NativeEndian.AppendUint16(program, uint16(no))
	}
	add := func(from, upTo byte, port uint16) {
		refuse := 0 // a socket refused by the last clause is refused by all
		if left == clause {
			refuse = 4
		}
		op(from, comparison, clause+refuse)
		op(0, 0, int(port))
		op(upTo, comparison, clause-comparison+refuse)
		op(0, 0, int(port))
		left -= clause
		op(opJump, jump, jump+left)
	}
	for _, port := range local {
		add(opLocalFrom, opLocalUpTo, port)
	}
	for _, port := range remote {
		add(opRemoteFrom, opRemoteUpTo, port)
	}
	return program
}

// filter returns the filter that selects the sockets known to be the target's: on the
// ports that it listens on, and connected to the ports that it connected to. It selects
// some of other processes too.
func (o *owned) filter() []byte {
	remote := map[uint16]bool{}
	for peer := range o.peers {
		remote[peer.Port()] = true
	}
	return portFilter(slices.Sorted(maps.Keys(o.ports)), slices.Sorted(maps.Keys(remote)))
}
