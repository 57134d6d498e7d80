package anatomy

import (
	"strings"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
)

// maxTasks bounds the marked requests that are open at one time, and maxID an id.
const (
	maxTasks = 1 << 16
	maxID    = 128
)

// task is one of the probe's tasks: the request that it marks.
type task struct {
	goroutine *goroutine
	conn      *conn
	serial    int
}

// mark is what the probe's tasks say of a request.
type mark struct {
	id    string
	tasks int
	open  int
	ended trace.Time // when the last task that was open ended
}

// marker takes a task's begin and end, and the log with its request's id.
func (t *tracker) marker(ev trace.Event) {
	switch ev.Kind() {
	case trace.EventTaskBegin:
		if task := ev.Task(); task.Type == breakdown.RequestTask && len(t.tasks) < maxTasks {
			if g := t.goroutines.byID[ev.Goroutine()]; g != nil && !g.dead {
				t.tasks[task.ID] = t.mark(g, ev.Time())
			}
		}
	case trace.EventLog:
		log := ev.Log()
		if log.Category == operation.Log {
			t.operation(ev, log.Message)
			return
		}
		if log.Category != breakdown.RequestLog {
			return
		}
		if task, ok := t.tasks[log.Task]; ok && task.live() && task.conn.mark.id == "" {
			task.conn.mark.id = cleanID(log.Message)
		}
	case trace.EventTaskEnd:
		id := ev.Task().ID
		task, ok := t.tasks[id]
		delete(t.tasks, id)
		if ok && task.live() {
			t.unmark(task, ev.Time())
		}
	}
}

// live reports whether the request that a task marks is still being served.
func (k task) live() bool { return k.conn.phase == phaseActive && k.conn.serial == k.serial }

// mark begins a task of goroutine g at now. A second task where the first one is
// over is the next request: its bytes were there, and nothing else showed where
// one ended and the other began.
func (t *tracker) mark(g *goroutine, now trace.Time) task {
	c, _ := g.request()
	own := g.conn
	switch {
	case own != nil && own == c && own.mark.tasks > 0 && own.mark.open == 0 && own.server.many():
		end := own.mark.ended
		if own.flushed > end {
			end = own.flushed
		}
		t.finish(g, end, now)
		own.phase = phaseEnded
		own.activate(true)
	case c != nil:
	case own != nil && own.server != serverNone:
		own.activate(own.phase != phaseUnknown)
	default:
		g.stay(now, ended{}, t.follower)
		own = &conn{server: serverMarked, phase: phaseNew, base: now, based: true}
		own.activate(true)
		g.conn = own
	}
	if c == nil {
		c = own
	}
	c.mark.tasks++
	c.mark.open++
	return task{g, c, c.serial}
}

func (t *tracker) unmark(k task, now trace.Time) {
	m := &k.conn.mark
	if m.open--; m.open > 0 {
		return
	}
	m.ended = now
	if k.conn.server != serverMarked || k.goroutine.conn != k.conn {
		return
	}
	t.finish(k.goroutine, now, now)
	k.goroutine.conn = nil
}

// many reports whether a server's goroutine serves one request after another.
func (s server) many() bool { return s == serverHTTP || s == serverFast }

// cleanID bounds an id, which a trace may say to be anything, and keeps what a
// terminal can show of it.
func cleanID(id string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return '_'
		}
		return r
	}, strings.Clone(id[:min(len(id), maxID)]))
}
