package check

import "bytes"

// Bounds on an Answer, in bytes.
const (
	maxBody  = 1 << 20  // of a longer body only texts are found: they are searched for as it arrives
	keepBody = 64 << 10 // of a buffer, for the next answer
)

// Answer checks one answer. It can be reused and keeps its buffer. Call Begin before
// anything else. It is not safe for concurrent use.
type Answer struct {
	set    *Set
	passed uint64 // checks that hold already: of headers, and of texts in a long body
	body   []byte
	long   bool
}

// Begin resets a for a new answer. Each interim answer of HTTP (1xx) needs its own Begin.
func (a *Answer) Begin(s *Set) {
	a.set, a.passed, a.long = s, 0, false
	if a.body = a.body[:0]; cap(a.body) > keepBody {
		a.body = nil
	}
}

// Header checks a header line; it keeps neither slice. If a header is repeated, one line
// must satisfy the check. Names are case-insensitive.
func (a *Answer) Header(name, value []byte) {
	for i := range a.set.checks {
		c := &a.set.checks[i]
		if c.header != "" && len(name) == len(c.header) && fold(name, c.header) && c.holds(value) {
			a.passed |= 1 << i
		}
	}
}

// Body takes the next piece of the body, and keeps a copy if a check needs it. Of a body above the bound it keeps no more than the
// end of what it has searched, in which a text may begin.
func (a *Answer) Body(piece []byte) {
	if !a.set.body || a.long && a.set.longest == 0 {
		return
	}
	for len(a.body)+len(piece) > maxBody {
		n := maxBody - len(a.body)
		a.body = append(a.body, piece[:n]...)
		piece = piece[n:]
		a.search()
		a.long = true
		a.body = a.body[:copy(a.body, a.body[maxBody-min(max(0, a.set.longest-1), maxBody/2):])]
	}
	a.body = append(a.body, piece...)
}

// search notes the texts that the kept part of the body contains.
func (a *Answer) search() {
	for i := range a.set.checks {
		if c := &a.set.checks[i]; c.body && len(c.contains) > 0 && contains(a.body, c.contains) {
			a.passed |= 1 << i
		}
	}
}

// Long marks the body as too long to check, for protocols that would have to convert it
// first.
func (a *Answer) Long() { a.long, a.body = true, a.body[:0] }

// End returns the result of a complete answer. Bit i of failed is set if check i failed;
// long means that the body exceeded 1 MiB, so that checks by JSONPath failed.
func (a *Answer) End(status int) (failed uint64, long bool) {
	document := document{body: a.body}
	for i := range a.set.checks {
		c := &a.set.checks[i]
		var ok bool
		switch {
		case c.header != "":
			ok = a.passed&(1<<i) != 0
		case c.body:
			ok = a.passed&(1<<i) != 0 || c.holds(a.body) && (!a.long || c.equals == nil)
		case c.path != nil:
			ok = !a.long && c.path.holds(&document, c)
		default:
			ok = c.statusHolds(status)
		}
		if !ok {
			failed |= 1 << i
		}
	}
	return failed, a.long
}

func contains(b, part []byte) bool { return bytes.Contains(b, part) }

// fold compares ASCII text without case; lower is in lower case.
func fold(b []byte, lower string) bool {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
