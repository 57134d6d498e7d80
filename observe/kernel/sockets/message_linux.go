package sockets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix" // netlink, and the layout of TCP_INFO
)

// States of a TCP socket (include/net/tcp_states.h).
const (
	established = 1
	timeWait    = 6
	closeWait   = 8
	listen      = 10
)

// socket is the used part of one message of sock_diag.
type socket struct {
	state         uint8
	local, remote netip.AddrPort
	cookie        uint64 // the socket's own, never used again
	// receive and send are the bytes queued; of a listening socket, the connections
	// that wait for accept and how many may.
	receive, send uint32
	inode         uint32 // 0 while not accepted
	info          info
	informed      bool // info is filled
}

// info is the used part of TCP_INFO. Fields that an older kernel lacks are zero.
type info struct {
	rtt           uint32 // us, smoothed
	unacked, cwnd uint32 // segments
	retransmits   uint32 // segments so far
	segments      uint32 // sent so far
	busy          uint64 // us with data to send
	rwnd, sndbuf  uint64 // us of these
}

// Sizes and offsets of struct inet_diag_msg (include/uapi/linux/inet_diag.h).
const (
	messageSize = 72
	attrHeader  = 4
	infoAttr    = 2 // INET_DIAG_INFO
)

var errCut = errors.New("a message of sock_diag is cut short")

// parseMessages parses the bytes of one read of the netlink socket and calls f
// with each socket; done means that the dump ended. Messages of another dump
// than seq are skipped.
func parseMessages(data []byte, seq uint32, f func(*socket)) (done bool, err error) {
	var s socket
	for len(data) >= unix.NLMSG_HDRLEN {
		size := binary.NativeEndian.Uint32(data)
		kind := binary.NativeEndian.Uint16(data[4:])
		if size < unix.NLMSG_HDRLEN || uint64(size) > uint64(len(data)) {
			return false, errCut
		}
		// A dump that was given up midway leaves its rest in the socket's buffer.
		own := binary.NativeEndian.Uint32(data[8:]) == seq
		body := data[unix.NLMSG_HDRLEN:size]
		// Messages are aligned to four bytes (NLMSG_ALIGN); the last one of a read need not be.
		data = data[min(len(data), int(size+3)&^3):]
		switch {
		case !own:
		case kind == unix.NLMSG_DONE, kind == unix.NLMSG_ERROR:
			if len(body) < 4 {
				return false, errCut
			}
			// An error of 0 is an acknowledgement (netlink(7)), and ends the dump as DONE does.
			if code := int32(binary.NativeEndian.Uint32(body)); code < 0 {
				return true, fmt.Errorf("dump sockets: %w", unix.Errno(-code))
			}
			return true, nil
		default:
			if err := parseSocket(body, &s); err != nil {
				return false, err
			}
			f(&s)
		}
	}
	if len(data) > 0 {
		return false, errCut
	}
	return false, nil
}

// parseSocket parses struct inet_diag_msg and its attributes
// (include/uapi/linux/inet_diag.h). Attributes are padded to four bytes; the last one
// may lack its padding.
func parseSocket(body []byte, s *socket) error {
	if len(body) < messageSize {
		return errCut
	}
	*s = socket{
		state:   body[1],
		local:   address(body[0], body[8:24], body[4:6]),
		remote:  address(body[0], body[24:40], body[6:8]),
		cookie:  binary.NativeEndian.Uint64(body[44:]),
		receive: binary.NativeEndian.Uint32(body[56:]),
		send:    binary.NativeEndian.Uint32(body[60:]),
		inode:   binary.NativeEndian.Uint32(body[68:]),
	}
	for rest := body[messageSize:]; len(rest) >= attrHeader; {
		size := int(binary.NativeEndian.Uint16(rest))
		if size < attrHeader || size > len(rest) {
			return errCut
		}
		if kind := binary.NativeEndian.Uint16(rest[2:]); kind == infoAttr {
			s.info.parse(rest[attrHeader:size])
			s.informed = true
		}
		rest = rest[min(len(rest), (size+3)&^3):]
	}
	return nil
}

// address makes an address from one end of struct inet_diag_sockid. IPv4 addresses
// mapped into IPv6 become plain ones.
func address(family uint8, ip, port []byte) netip.AddrPort {
	var addr netip.Addr
	if family == unix.AF_INET {
		addr = netip.AddrFrom4([4]byte(ip[:4]))
	} else {
		addr = netip.AddrFrom16([16]byte(ip)).Unmap()
	}
	return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(port))
}

// identity writes struct inet_diag_sockid, which address and parseSocket read.
// Ports and addresses are in the network's byte order, all else is in the host's. The
// interface, id[36:40], stays 0: any.
func (s *socket) identity(id []byte) {
	binary.BigEndian.PutUint16(id, s.local.Port())
	binary.BigEndian.PutUint16(id[2:], s.remote.Port())
	copy(id[4:20], s.local.Addr().AsSlice())
	copy(id[20:36], s.remote.Addr().AsSlice())
	binary.NativeEndian.PutUint64(id[40:], s.cookie)
}

// parse reads struct tcp_info, whose length grows with the kernel's version.
func (i *info) parse(b []byte) {
	var at unix.TCPInfo
	word := func(offset uintptr) uint32 {
		if int(offset)+4 > len(b) {
			return 0
		}
		return binary.NativeEndian.Uint32(b[offset:])
	}
	long := func(offset uintptr) uint64 {
		if int(offset)+8 > len(b) {
			return 0
		}
		return binary.NativeEndian.Uint64(b[offset:])
	}
	*i = info{
		rtt:         word(unsafe.Offsetof(at.Rtt)),
		unacked:     word(unsafe.Offsetof(at.Unacked)),
		cwnd:        word(unsafe.Offsetof(at.Snd_cwnd)),
		retransmits: word(unsafe.Offsetof(at.Total_retrans)),
		segments:    word(unsafe.Offsetof(at.Segs_out)),
		busy:        long(unsafe.Offsetof(at.Busy_time)),
		rwnd:        long(unsafe.Offsetof(at.Rwnd_limited)),
		sndbuf:      long(unsafe.Offsetof(at.Sndbuf_limited)),
	}
}
