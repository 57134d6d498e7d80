package usage

import (
	"slices"

	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
)

// maxHanded is how many go statements a stack is followed across.
const maxHanded = 4

// handed completes the stacks of goroutines that work for one request and show no
// user code, such as a library's lexer or pipe. Such a stack is continued at the go
// statement that started it, so that its work is attributed to the call of the
// library and to the place of that call.
type handed struct {
	set  *measured.Run
	most map[string][]code.Frame // by entry: where nearly all such goroutines were started
}

func (p *Service) handed() handed {
	s := handed{p.Run, map[string][]code.Frame{}}
	if p.Anatomy == nil {
		return s
	}
	sums := map[string]int{}
	for _, h := range p.Anatomy.Helpers {
		sums[h.Entry] += h.Count
	}
	for _, h := range p.Anatomy.Helpers {
		if float64(h.Count) >= nearlyAll*float64(sums[h.Entry]) {
			s.most[h.Entry] = h.Start
		}
	}
	return s
}

// whole returns the stack, continued if it is a helper's. A stack that shows the user's
// code already says whose work it is, and stays as it is.
func (s handed) whole(stack []code.Frame) []code.Frame {
	long := stack
	for range maxHanded {
		if len(long) == 0 || s.set.Stacks.Innermost(long) >= 0 {
			break
		}
		start := s.most[measured.Entry(long)]
		if start == nil {
			return stack
		}
		long = slices.Concat(long, start)
	}
	if s.set.Stacks.Innermost(long) < 0 {
		return stack
	}
	return long
}
