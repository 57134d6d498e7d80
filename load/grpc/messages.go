package grpc

import (
	"encoding/binary"

	"github.com/redline-go/redline/load/failure"
)

// maxKept bounds the messages of an answer that are kept for its checks, which
// fail when there are more. Answers without checks may be of any size.
const maxKept = 4 << 20

// messages takes the messages of an answer apart, whatever pieces they come in.
type messages struct {
	count int
	head  [prefix]byte
	have  int    // bytes of head
	left  uint32 // bytes of the message that are to come
	keep  bool
	long  bool   // there are too many to keep
	kept  []byte // with their prefixes
}

// feed takes a piece. After an error the answer is unusable.
// Messages are counted and skipped; their bytes are kept only for checks. A prefix may be
// cut anywhere, because DATA frames are independent of messages.
func (m *messages) feed(data []byte) error {
	switch {
	case !m.keep || m.long:
	case len(m.kept)+len(data) > maxKept:
		m.long, m.kept = true, nil
	default:
		m.kept = append(m.kept, data...)
	}
	for len(data) > 0 {
		if m.left > 0 {
			n := min(uint64(m.left), uint64(len(data)))
			m.left -= uint32(n)
			data = data[n:]
			continue
		}
		n := copy(m.head[m.have:], data)
		m.have += n
		if data = data[n:]; m.have < prefix {
			return nil
		}
		switch m.head[0] {
		case 0:
		// The request named no encoding (grpc-accept-encoding), so a server may only send
		// identity.
		case 1:
			return errCompressed
		default:
			return errPrefix
		}
		m.have = 0
		m.left = binary.BigEndian.Uint32(m.head[1:])
		m.count++
	}
	return nil
}

// whole reports whether no message is incomplete.
func (m *messages) whole() bool { return m.have == 0 && m.left == 0 }

// each calls f with every message that was kept.
func (m *messages) each(f func(message []byte) error) error {
	for rest := m.kept; len(rest) >= prefix; {
		end := prefix + int(binary.BigEndian.Uint32(rest[1:]))
		if err := f(rest[prefix:end]); err != nil {
			return err
		}
		rest = rest[end:]
	}
	return nil
}

var (
	errCompressed = failure.New(failure.BadResponse, "a compressed message, which the request did not accept")
	errPrefix     = failure.New(failure.BadResponse, "the body is not a sequence of gRPC messages")
)
