//go:build darwin || freebsd

package socket

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix" // kqueue
)

// batch is how many events one Wait returns at most.
const batch = 256

// wakeIdent is the user event that Wake triggers.
const wakeIdent = 1

// Poller waits for descriptors, for a point in time, and for Wake; see the Linux one.
type Poller struct {
	queue  int
	tokens []Token // by descriptor
	events [batch]unix.Kevent_t
}

// NewPoller returns an open poller. The caller closes it.
func NewPoller() (*Poller, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("kqueue: %w", err)
	}
	unix.CloseOnExec(queue)
	p := &Poller{queue: queue}
	if err := p.change(wakeIdent, unix.EVFILT_USER, unix.EV_ADD|unix.EV_CLEAR, 0); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close closes the poller's own descriptor.
func (p *Poller) Close() { _ = unix.Close(p.queue) }

func (p *Poller) change(fd, filter, flags int, fflags uint32) error {
	var e unix.Kevent_t
	unix.SetKevent(&e, fd, filter, flags)
	e.Fflags = fflags
	if _, err := unix.Kevent(p.queue, []unix.Kevent_t{e}, nil, nil); err != nil {
		return fmt.Errorf("kevent: %w", err)
	}
	return nil
}

// Add starts waiting for fd.
func (p *Poller) Add(fd int, t Token) error {
	for len(p.tokens) <= fd {
		p.tokens = append(p.tokens, Token{})
	}
	p.tokens[fd] = t
	if err := p.change(fd, unix.EVFILT_READ, unix.EV_ADD|unix.EV_CLEAR, 0); err != nil {
		return err
	}
	return p.change(fd, unix.EVFILT_WRITE, unix.EV_ADD|unix.EV_CLEAR, 0)
}

// Forget stops waiting for fd, as does closing it.
func (p *Poller) Forget(fd int) {
	_ = p.change(fd, unix.EVFILT_READ, unix.EV_DELETE, 0)
	_ = p.change(fd, unix.EVFILT_WRITE, unix.EV_DELETE, 0)
}

// Wait waits until something is ready, d has passed (negative: for ever), or
// Wake was called, and returns how many events there are for Event.
func (p *Poller) Wait(d time.Duration) (int, error) {
	var limit *unix.Timespec
	if d >= 0 {
		ts := unix.NsecToTimespec(int64(d))
		limit = &ts
	}
	n, err := unix.Kevent(p.queue, nil, p.events[:], limit)
	if err == unix.EINTR {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("kevent: %w", err)
	}
	return n, nil
}

// Event returns event i of the last Wait.
func (p *Poller) Event(i int) Event {
	e := &p.events[i]
	if e.Filter == unix.EVFILT_USER {
		return Event{Token: Token{Index: -1}}
	}
	return Event{
		Token:    p.tokens[e.Ident],
		Readable: e.Filter == unix.EVFILT_READ,
		Writable: e.Filter == unix.EVFILT_WRITE,
		Over:     e.Flags&unix.EV_EOF != 0,
	}
}

// Wake ends a Wait, this or the next one, from any goroutine.
func (p *Poller) Wake() { _ = p.change(wakeIdent, unix.EVFILT_USER, 0, unix.NOTE_TRIGGER) }

// Precise lets the calling thread's waits end close to their time; kqueue's already do.
func Precise() {}

// Thread returns 0: the thread's id is not available here.
func Thread() int { return 0 }

// CPU returns 0: the CPU time of a thread is not read here.
func CPU() time.Duration { return 0 }
