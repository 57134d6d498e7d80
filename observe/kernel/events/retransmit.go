package events

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"
)

// retransmit is one retransmission of the target's, struct retransmit of
// tcp.bpf.c.
type retransmit struct {
	at       time.Duration // CLOCK_MONOTONIC
	segments uint32
	local    uint16
	remote   netip.AddrPort
	inwards  bool // local is a port that the target listens on
}

const (
	retransmitSize = 40
	inet           = 2 // AF_INET
)

// parseRetransmit parses an entry of the ring.
func parseRetransmit(b []byte) (retransmit, error) {
	if len(b) < retransmitSize {
		return retransmit{}, fmt.Errorf("a retransmission of %d bytes, want %d", len(b), retransmitSize)
	}
	addr := netip.AddrFrom16([16]byte(b[20:36])).Unmap()
	if binary.NativeEndian.Uint16(b[12:]) == inet {
		addr = netip.AddrFrom4([4]byte(b[20:24]))
	}
	return retransmit{
		at:       time.Duration(binary.NativeEndian.Uint64(b)),
		segments: binary.NativeEndian.Uint32(b[8:]),
		local:    binary.NativeEndian.Uint16(b[14:]),
		remote:   netip.AddrPortFrom(addr, binary.NativeEndian.Uint16(b[16:])),
		inwards:  b[18] != 0,
	}, nil
}

// label returns the socket as a label: the port that the target listens on, or
// the address that it connected to.
func (r *retransmit) label() string {
	if r.inwards {
		return fmt.Sprintf("local=%d", r.local)
	}
	return fmt.Sprintf("remote=%v", r.remote)
}
