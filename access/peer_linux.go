package access

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix" // netlink
)

// knowsPeers reports whether the system knows who is at the other end of a
// loopback connection.
const knowsPeers = true

// Sizes of struct inet_diag_req_v2 and of struct inet_diag_msg, and TCP's states
// (include/uapi/linux/inet_diag.h, include/net/tcp_states.h).
const (
	requestSize = 56
	messageSize = 72

	established = 1
	finWait1    = 4 // the other end is closed for writing, and may read
	finWait2    = 5
)

var errGone = errors.New("the other end of the connection has no owner")

// peer returns the user who made the other end of a loopback connection. It asks
// for that one socket (sock_diag(7)), so its cost does not grow with the number of
// connections on the host.
//
// Hazard: a socket that its process has closed lives on until its bytes are sent,
// and is listed as root's. Only one with an inode belongs to a user. If the
// kernel does not find the connection, it looks for a listener on the same port,
// so the reply must be checked to be about this connection.
func peer(c net.Conn) (uid int, err error) {
	theirs, err1 := netip.ParseAddrPort(c.RemoteAddr().String())
	ours, err2 := netip.ParseAddrPort(c.LocalAddr().String())
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	theirs = netip.AddrPortFrom(theirs.Addr().Unmap().WithZone(""), theirs.Port())
	ours = netip.AddrPortFrom(ours.Addr().Unmap().WithZone(""), ours.Port())
	answer, err := ask(theirs, ours)
	if err != nil {
		return 0, fmt.Errorf("find the connection's owner: %w", err)
	}
	state, inode := answer[1], binary.NativeEndian.Uint32(answer[68:])
	var id [36]byte
	identity(id[:], theirs, ours)
	if !slices.Equal(canonical(answer[0], answer[4:40]), id[:]) || inode == 0 ||
		!slices.Contains([]byte{established, finWait1, finWait2}, state) {
		return 0, errGone
	}
	return int(binary.NativeEndian.Uint32(answer[64:])), nil
}

// identity writes the ports and addresses of struct inet_diag_sockid.
func identity(b []byte, from, to netip.AddrPort) {
	binary.BigEndian.PutUint16(b, from.Port())
	binary.BigEndian.PutUint16(b[2:], to.Port())
	copy(b[4:20], from.Addr().AsSlice())
	copy(b[20:36], to.Addr().AsSlice())
}

// canonical turns IPv4 addresses of an IPv6 socket into plain ones.
func canonical(family byte, id []byte) []byte {
	if family != unix.AF_INET6 {
		return id
	}
	from := netip.AddrFrom16([16]byte(id[4:20])).Unmap()
	to := netip.AddrFrom16([16]byte(id[20:36])).Unmap()
	out := make([]byte, 36)
	identity(out, netip.AddrPortFrom(from, binary.BigEndian.Uint16(id)), netip.AddrPortFrom(to, binary.BigEndian.Uint16(id[2:])))
	return out
}

// ask returns the struct inet_diag_msg of one socket.
func ask(from, to netip.AddrPort) ([]byte, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	// The kernel answers within the call; the timeout only keeps a mistake from
	// blocking further connections.
	timeout := unix.NsecToTimeval(int64(time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		return nil, err
	}
	request := make([]byte, unix.NLMSG_HDRLEN+requestSize)
	binary.NativeEndian.PutUint32(request, uint32(len(request)))
	binary.NativeEndian.PutUint16(request[4:], unix.SOCK_DIAG_BY_FAMILY)
	binary.NativeEndian.PutUint16(request[6:], unix.NLM_F_REQUEST)
	body := request[unix.NLMSG_HDRLEN:]
	body[0], body[1] = unix.AF_INET, unix.IPPROTO_TCP
	if from.Addr().Is6() {
		body[0] = unix.AF_INET6
	}
	binary.NativeEndian.PutUint32(body[4:], ^uint32(0)) // all states
	identity(body[8:], from, to)
	binary.NativeEndian.PutUint64(body[48:], ^uint64(0)) // INET_DIAG_NOCOOKIE
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return nil, err
	}
	answer = answer[:n]
	if n < unix.NLMSG_HDRLEN+4 {
		return nil, errors.New("the answer is cut short")
	}
	if kind := binary.NativeEndian.Uint16(answer[4:]); kind == unix.NLMSG_ERROR {
		return nil, unix.Errno(-int32(binary.NativeEndian.Uint32(answer[unix.NLMSG_HDRLEN:])))
	}
	if n < unix.NLMSG_HDRLEN+messageSize {
		return nil, errors.New("the answer is cut short")
	}
	return answer[unix.NLMSG_HDRLEN:], nil
}
