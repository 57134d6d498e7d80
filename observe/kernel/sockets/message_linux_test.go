package sockets

import (
	"encoding/binary"
	"maps"
	"math"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// message makes a netlink message.
func message(kind uint16, seq uint32, body ...byte) []byte {
	b := make([]byte, unix.NLMSG_HDRLEN, unix.NLMSG_HDRLEN+len(body))
	binary.NativeEndian.PutUint32(b, uint32(unix.NLMSG_HDRLEN+len(body)))
	binary.NativeEndian.PutUint16(b[4:], kind)
	binary.NativeEndian.PutUint32(b[8:], seq)
	b = append(b, body...)
	return append(b, make([]byte, -len(body)&3)...)
}

// body makes a struct inet_diag_msg of an IPv4 connection with TCP_INFO of the
// given length.
func body(infoSize int) []byte {
	b := make([]byte, messageSize)
	b[0], b[1] = unix.AF_INET, established
	binary.BigEndian.PutUint16(b[4:], 8080)
	binary.BigEndian.PutUint16(b[6:], 40000)
	copy(b[8:], []byte{10, 0, 0, 1})
	copy(b[24:], []byte{10, 0, 0, 2})
	binary.NativeEndian.PutUint64(b[44:], 7)
	binary.NativeEndian.PutUint32(b[56:], 11)
	binary.NativeEndian.PutUint32(b[60:], 12)
	binary.NativeEndian.PutUint32(b[68:], 13)
	attr := make([]byte, attrHeader+infoSize)
	binary.NativeEndian.PutUint16(attr, uint16(len(attr)))
	binary.NativeEndian.PutUint16(attr[2:], infoAttr)
	for i := range infoSize / 4 { // the nth word of TCP_INFO is n
		binary.NativeEndian.PutUint32(attr[attrHeader+4*i:], uint32(i))
	}
	return append(b, attr...)
}

func TestParseMessages(t *testing.T) {
	long := func(word uint64) uint64 { return (word+1)<<32 | word } // two words of body, little endian
	want := socket{
		state: established, local: netip.MustParseAddrPort("10.0.0.1:8080"), remote: netip.MustParseAddrPort("10.0.0.2:40000"),
		cookie: 7, receive: 11, send: 12, inode: 13, informed: true,
		info: info{rtt: 17, unacked: 6, cwnd: 20, retransmits: 25, segments: 34, busy: long(42), rwnd: long(44), sndbuf: long(46)},
	}
	old := want // Linux 4.1: as far as total_retrans
	old.info.segments, old.info.busy, old.info.rwnd, old.info.sndbuf = 0, 0, 0, 0
	for size, want := range map[int]socket{232: want, 104: old} {
		data := append(message(20, 3, body(size)...), message(20, 2, 1, 2, 3, 4)...)
		data = append(data, message(unix.NLMSG_DONE, 3, 0, 0, 0, 0)...)
		var got []socket
		done, err := parseMessages(data, 3, func(s *socket) { got = append(got, *s) })
		if err != nil || !done || len(got) != 1 || got[0] != want {
			t.Errorf("TCP_INFO of %d bytes: got %+v, %v, %v; want %+v", size, got, done, err, want)
		}
	}
}

func TestBrokenMessages(t *testing.T) {
	whole := message(20, 3, body(232)...)
	for cut := 1; cut < len(whole); cut++ {
		if _, err := parseMessages(whole[:cut], 3, func(*socket) {}); err == nil {
			t.Fatalf("%d of %d bytes are taken", cut, len(whole))
		}
	}
	refused := message(unix.NLMSG_ERROR, 3, 0xfe, 0xff, 0xff, 0xff) // -ENOENT
	if done, err := parseMessages(refused, 3, func(*socket) {}); !done || err == nil {
		t.Errorf("a refusal: done %v, %v", done, err)
	}
}

func TestSocketInode(t *testing.T) {
	for text, want := range map[string]uint32{"socket:[1234]": 1234, "socket:[]": 0, "socket:[12": 0, "pipe:[12]": 0,
		"socket:[99999999999]": 0, "/tmp/socket:[1]": 0} {
		if got, ok := Inode([]byte(text)); ok != (want != 0) || (ok && got != want) {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
}

func TestTotals(t *testing.T) {
	const ms = time.Millisecond
	sum := totals{width: 100 * ms}
	reported := map[int64]amounts{}
	round := func(at time.Duration, add func()) {
		sum.begin(at)
		add()
		sum.end(func(w int64, of *amounts) { reported[w] = *of })
	}
	round(100*ms, func() {
		// Older than the source: only what it adds counts.
		sum.add(1, figures{at: 100 * ms, segments: 100, retransmits: 9, busy: 50}, false)
	})
	round(200*ms, func() {
		sum.add(1, figures{at: 200 * ms, segments: 150, retransmits: 10, busy: 49}, false) // a clock a tick back
		sum.add(2, figures{at: 200 * ms, segments: 7, busy: 10, rwnd: 4}, true)            // born since: all of it
	})
	round(300*ms, func() { // 2 has ended; its share stays. The 32 bits of 1 wrap.
		sum.add(1, figures{at: 300 * ms, segments: 10, retransmits: 10, busy: 60, sndbuf: 20}, false)
	})
	want := map[int64]amounts{
		1: {segments: 57, retransmits: 1, busy: 10, rwnd: 4, path: 6},
		2: {segments: 1<<32 - 140, busy: 11, sndbuf: 20},
	}
	if !maps.Equal(reported, want) || len(sum.last) != 1 {
		t.Errorf("told %v, want %v; %d sockets are remembered", reported, want, len(sum.last))
	}
	sum.forget()
	clear(reported)
	round(730*ms, func() { sum.add(1, figures{at: 730 * ms, segments: 5000}, false) })
	round(900*ms, func() { sum.add(1, figures{at: 900 * ms, segments: 5170}, false) })
	if want := (map[int64]amounts{8: {segments: 100}}); !maps.Equal(reported, want) {
		t.Errorf("after a gap %v is told, want %v: nothing of it, nothing of the window that it ended in", reported, want)
	}
}

// Sockets of one dump are read one after another: the amount of each is split by its
// own readings, not by the dump's.
func TestEachSocketIsDatedForItself(t *testing.T) {
	const ms = time.Millisecond
	sum := totals{width: 100 * ms}
	var reported []amounts
	for i, round := range []struct{ began, late time.Duration }{{100 * ms, 120 * ms}, {200 * ms, 260 * ms}, {300 * ms, 300 * ms}} {
		sum.begin(round.began)
		sum.add(1, figures{at: round.began, segments: uint32(1000 * i)}, false)
		sum.add(2, figures{at: round.late, segments: uint32(700 * i)}, false)
		sum.end(func(_ int64, of *amounts) { reported = append(reported, *of) })
	}
	// The second socket: 700 from 120 to 260 ms, so 400 of them before 200.
	if len(reported) != 2 || reported[0][segments] != 1400 || math.Abs(reported[1][segments]-2000) > 1e-6 {
		t.Errorf("told %v, want 1400 and 2000 segments", reported)
	}
}

func FuzzParseMessages(f *testing.F) {
	f.Add(append(message(20, 0, body(232)...), message(unix.NLMSG_DONE, 0, 0, 0, 0, 0)...))
	f.Add(message(unix.NLMSG_ERROR, 0, 0xfe, 0xff, 0xff, 0xff))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		_, _ = parseMessages(data, 0, func(*socket) { n++ })
		if n > len(data)/(unix.NLMSG_HDRLEN+messageSize) {
			t.Errorf("%d sockets in %d bytes", n, len(data))
		}
		_, _ = Inode(data)
	})
}
