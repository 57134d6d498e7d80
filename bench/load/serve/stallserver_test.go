//go:build linux

package serve

import "testing"

func TestCountHeads(t *testing.T) {
	const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, c := range []struct {
		pieces []string
		want   int
	}{
		{[]string{request}, 1}, {[]string{request + request}, 2}, {[]string{request[:3], request[3:]}, 1},
		{[]string{request[:len(request)-1], "\n" + request}, 2}, {[]string{request[:len(request)-3], "\n", "\r", "\n"}, 1},
		{[]string{"a\r\r\n\r\n"}, 1}, {[]string{"a\r\n\r", "b\r\n\r\n"}, 1}, {[]string{"\r\n\r"}, 0},
	} {
		total, seen := 0, 0
		for _, piece := range c.pieces {
			var heads int
			heads, seen = countHeads([]byte(piece), seen)
			total += heads
		}
		if total != c.want {
			t.Errorf("%q holds %d heads, want %d", c.pieces, total, c.want)
		}
	}
}
