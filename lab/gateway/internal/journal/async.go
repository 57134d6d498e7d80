package journal

import (
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/rotate"

	"gorm.io/gorm/logger"
)

const (
	queueLength = 8192
	flushBytes  = 64 << 10
	flushEvery  = 100 * time.Millisecond
)

// line is what the queue holds: an Entry without what is borrowed.
type line struct {
	time      time.Time
	requestID string
	method    string
	path      string
	userID    int64
	status    int
	bytes     int
	took      time.Duration
}

// asynchronous writes one line per request from a goroutine of its own.
type asynchronous struct {
	file    *rotate.File
	queue   chan line
	done    chan error
	dropped atomic.Uint64
}

func newAsynchronous(f *rotate.File) *asynchronous {
	a := &asynchronous{file: f, queue: make(chan line, queueLength), done: make(chan error, 1)}
	go a.write()
	return a
}

func (a *asynchronous) Request(e *Entry) {
	select {
	case a.queue <- line{e.Time, e.RequestID, e.Method, e.Path, e.UserID, e.Status, e.Bytes, e.Took}:
	default:
		a.dropped.Add(1)
	}
}

// Statements is nil: statements are the database's to count.
func (a *asynchronous) Statements() logger.Interface { return nil }

// Dropped is how many entries found the queue full.
func (a *asynchronous) Dropped() uint64 { return a.dropped.Load() }

func (a *asynchronous) Close() error {
	close(a.queue)
	return errors.Join(<-a.done, a.file.Close())
}

// write gathers lines and writes them when enough are there, or after a while.
// A failed write loses its lines; the first error is what Close returns.
func (a *asynchronous) write() {
	var first error
	buf := make([]byte, 0, 2*flushBytes)
	flush := func() {
		if len(buf) == 0 {
			return
		}
		if _, err := a.file.Write(buf); err != nil && first == nil {
			first = err
		}
		buf = buf[:0]
	}
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case l, ok := <-a.queue:
			if !ok {
				flush()
				a.done <- first
				return
			}
			if buf = l.append(buf); len(buf) >= flushBytes {
				flush()
			}
		case <-tick.C:
			flush()
		}
	}
}

func (l *line) append(b []byte) []byte {
	b = l.time.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(append(b, " id="...), l.requestID...)
	b = append(append(b, ' '), l.method...)
	b = append(append(b, ' '), l.path...)
	b = strconv.AppendInt(append(b, " user="...), l.userID, 10)
	b = strconv.AppendInt(append(b, " status="...), int64(l.status), 10)
	b = strconv.AppendInt(append(b, " bytes="...), int64(l.bytes), 10)
	b = strconv.AppendInt(append(b, " took_us="...), l.took.Microseconds(), 10)
	return append(b, '\n')
}
