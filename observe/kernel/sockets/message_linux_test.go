package sockets

import (
	"encoding/binary"
	"net/netip"
	"testing"

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
	for text, want := range map[string]uint32{"socket:[1234]": 1234, "socket:[]": 0, "socket:[12": 0, "pipe:[12]": 0, "socket:[99999999999]": 0, "/tmp/socket:[1]": 0} {
		if got, ok := socketInode([]byte(text)); ok != (want != 0) || (ok && got != want) {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
}

func TestTotals(t *testing.T) {
	var sum totals
	sum.add(1, amounts{segments: 100, retransmits: 9, busy: 50}, false) // old: only what it adds counts
	sum.add(2, amounts{segments: 7, busy: 10, rwnd: 4}, true)           // born since: all of it
	sum.next()
	sum.add(1, amounts{segments: 150, retransmits: 10, busy: 49}, false) // a clock a tick back
	sum.next()                                                           // 2 has ended; its share stays
	sum.add(1, amounts{segments: 10, retransmits: 10, busy: 60, sndbuf: 20}, false)
	if sum.retransmits != 1 || sum.busy != 21 || sum.rwnd != 4 || sum.sndbuf != 20 || sum.path != 6 || len(sum.last) != 1 {
		t.Errorf("%+v", sum)
	}
	if want := uint64(57) + 1<<32 - 140; sum.segments != want { // the 32 bits wrapped
		t.Errorf("%d segments, want %d", sum.segments, want)
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
		_, _ = socketInode(data)
	})
}

func BenchmarkDump(b *testing.B) {
	for name, mask := range map[string]uint32{"listening": 1 << listen, "connected": connected} {
		b.Run(name, func(b *testing.B) {
			d, err := openDiag()
			if err != nil {
				b.Fatal(err)
			}
			defer d.close()
			sockets := 0
			for b.Loop() {
				sockets = 0
				if _, _, err := d.dump(mask, true, func(*socket) { sockets++ }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(sockets), "sockets")
		})
	}
}
