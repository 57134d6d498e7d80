package cli

import (
	"strings"
	"testing"
)

// TestProgress: on a terminal the last step is overwritten, and any other message
// begins a line of its own.
func TestProgress(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct {
		redraws bool
		want    string
	}{{false, "one\ntwo\nnote 3\n"}, {true, "\r\x1b[2Kone\r\x1b[2Ktwo\nnote 3\n"}} {
		b.Reset()
		p := &Progress{w: &b, redraws: c.redraws}
		p.Step("one")
		p.Step("two")
		p.Note("note %d", 3)
		p.Close()
		if b.String() != c.want {
			t.Errorf("%q, want %q", b.String(), c.want)
		}
	}
	b.Reset()
	(&Progress{w: &b, redraws: true}).Step(strings.Repeat("µ", 2*pipeWidth))
	if n := strings.Count(b.String(), "µ"); n == 0 || n >= pipeWidth {
		t.Errorf("%d characters in a line of %d", n, pipeWidth)
	}
}
