package check

import "bytes"

// Bounds on an Answer, in bytes.
const (
	maxBody  = 1 << 20  // longer bodies fail the checks that look at them
	keepBody = 64 << 10 // of a buffer, for the next answer
)

// Answer is one answer under inspection. It may be used again, and then keeps
// its buffer. The zero Answer needs a Begin. It is not safe for concurrent use.
type Answer struct {
	set    *Set
	passed uint64 // checks of headers that hold
	body   []byte
	long   bool
}

// Begin readies a for an answer, whatever was given to it before. Interim
// answers of HTTP need one each.
func (a *Answer) Begin(s *Set) {
	a.set, a.passed, a.long = s, 0, false
	if a.body = a.body[:0]; cap(a.body) > keepBody {
		a.body = nil
	}
}

// Header is given a header line. Both slices are only looked at. Of a header
// that comes several times one line must satisfy the check.
// HTTP/2 has names in lower case and HTTP/1 in any, so case never counts.
func (a *Answer) Header(name, value []byte) {
	for i := range a.set.checks {
		c := &a.set.checks[i]
		if c.header != "" && len(name) == len(c.header) && fold(name, c.header) && c.holds(value) {
			a.passed |= 1 << i
		}
	}
}

// Body is given the next piece of the body and keeps a copy when some check
// looks at it.
func (a *Answer) Body(piece []byte) {
	switch {
	case !a.set.body || a.long:
	case len(a.body)+len(piece) > maxBody:
		a.long, a.body = true, a.body[:0]
	default:
		a.body = append(a.body, piece...)
	}
}

// Long says that the body is too long to be given, for protocols that would
// have to turn it into another form first.
func (a *Answer) Long() { a.long, a.body = true, a.body[:0] }

// End judges the answer once it is complete. Bit i of failed is set when check
// i did not hold; long means that the body was over 1 MiB and its checks failed
// by that.
func (a *Answer) End(status int) (failed uint64, long bool) {
	document := document{body: a.body}
	for i := range a.set.checks {
		c := &a.set.checks[i]
		var ok bool
		switch {
		case c.header != "":
			ok = a.passed&(1<<i) != 0
		case c.body:
			ok = !a.long && c.holds(a.body)
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
