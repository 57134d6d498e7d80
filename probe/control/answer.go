package control

import (
	"bytes"
	"io"
	"sync/atomic"
)

// answer frames what is written to it. After a failed write it discards, so
// that a trace being written ends quickly. Data that comes after limit is passed is
// still sent: it is the end of a trace, without which the rest is worth less.
type answer struct {
	w     io.Writer
	limit int64         // 0: none
	full  chan struct{} // closed when limit is passed; nil without one

	sent  int64
	frame []byte       // reused
	err   atomic.Value // of failure
}

// failure wraps an error, because an atomic.Value needs one concrete type.
type failure struct{ error }

func (a *answer) Write(p []byte) (int, error) {
	if a.failed() != nil {
		return len(p), nil
	}
	before := a.sent
	a.sent += int64(len(p))
	var err error
	if a.frame, err = writeFrame(a.w, a.frame, frameData, p); err != nil {
		a.err.Store(failure{err})
	}
	if a.limit > 0 && before <= a.limit && (a.sent > a.limit || a.failed() != nil) {
		a.fill()
	}
	return len(p), nil
}

// fill makes the waiting side stop; it is called by one goroutine only.
func (a *answer) fill() {
	select {
	case <-a.full:
	default:
		close(a.full)
	}
}

func (a *answer) failed() error {
	if f, ok := a.err.Load().(failure); ok {
		return f.error
	}
	return nil
}

// bounded is a buffer that refuses to grow above limit.
type bounded struct {
	b     bytes.Buffer
	limit int
	over  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.b.Len()+len(p) > b.limit {
		b.over = true
		return 0, errTooLargeProfile
	}
	return b.b.Write(p)
}
