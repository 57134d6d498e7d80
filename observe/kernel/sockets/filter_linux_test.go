package sockets

import (
	"net"
	"slices"
	"testing"

	"github.com/redline-go/redline/record/timebase"
)

// pool opens n connections to a listener of its own, and returns its port.
func pool(t testing.TB, n int) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for range n {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	}
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

// The kernel selects the sockets on the named ports, and no others.
func TestPortFilter(t *testing.T) {
	ports := []uint16{pool(t, 2), pool(t, 3), pool(t, 5)}
	d, err := openDiag(timebase.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	for _, test := range []struct {
		local, remote []uint16
		want          [3][2]int // for each port, its own ends and the ends connected to it
	}{
		{nil, nil, [3][2]int{{2, 2}, {3, 3}, {5, 5}}},
		{ports[:1], nil, [3][2]int{{2, 0}}},
		{nil, ports[1:2], [3][2]int{1: {0, 3}}},
		{ports[:2], ports[1:], [3][2]int{{2, 0}, {3, 3}, {0, 5}}},
		{[]uint16{1, 2, ports[2], 3}, []uint16{4, ports[2], 5}, [3][2]int{2: {5, 5}}},
		{[]uint16{1}, []uint16{65535}, [3][2]int{}},
		{slices.Repeat(ports[:1], maxFilter+1), nil, [3][2]int{{2, 2}, {3, 3}, {5, 5}}}, // too many: all
	} {
		var got [3][2]int
		others := 0
		_, whole, err := d.dump(query{states: 1 << established, informed: true, filter: portFilter(test.local,
			test.remote)}, func(s *socket, _ timebase.Span) {
			if i := slices.Index(ports, s.local.Port()); i >= 0 {
				got[i][0]++
			} else if i := slices.Index(ports, s.remote.Port()); i >= 0 {
				got[i][1]++
			} else {
				others++
			}
			if !s.informed {
				t.Errorf("%v has no TCP_INFO", s.local)
			}
		})
		if err != nil || !whole || got != test.want {
			t.Errorf("ports %v, %v: sockets %v, want %v; %v", test.local, test.remote, got, test.want, err)
		}
		if named := len(test.local) + len(test.remote); named > 0 && named <= maxFilter && others > 0 {
			t.Errorf("ports %v, %v: %d sockets of others", test.local, test.remote, others)
		}
	}
}

// A dump of many sockets comes in parts, each dated by the call in which the
// kernel made it, and none later than its answer.
func TestPartsAreDated(t *testing.T) {
	port := pool(t, 300)
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	d, err := openDiag(clock)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	begun := clock.Now()
	var parts []timebase.Span
	seen := 0
	_, _, err = d.dump(query{states: connected, informed: true, filter: portFilter([]uint16{port}, nil)},
		func(s *socket, looked timebase.Span) {
			seen++
			if n := len(parts); n == 0 || parts[n-1] != looked {
				parts = append(parts, looked)
			}
			if looked.To > clock.Now() {
				t.Errorf("a socket is told of before it was looked at: %v", looked)
			}
		})
	if err != nil || seen != 300 || len(parts) < 3 {
		t.Fatalf("%d sockets in %d parts, %v; want 300 in several", seen, len(parts), err)
	}
	last := begun
	for _, part := range parts {
		if part.From < last || part.Len() <= 0 {
			t.Errorf("parts %v, not one after another", parts)
			break
		}
		last = part.To
	}
}
