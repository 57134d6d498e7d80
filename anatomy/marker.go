package anatomy

import (
	"strconv"
	"strings"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/server"
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
	goroutine *goroutines.Goroutine
	conn      *goroutines.Conn
	serial    int
}

// marker takes a task's begin and end, and the log with its request's id.
func (t *tracker) marker(ev trace.Event) {
	switch ev.Kind() {
	case trace.EventTaskBegin:
		if task := ev.Task(); task.Type == breakdown.RequestTask && len(t.tasks) < maxTasks {
			if g := t.goroutines.ByID[ev.Goroutine()]; g != nil && !g.Dead {
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
		if task, ok := t.tasks[log.Task]; ok && task.live() && task.conn.Mark.ID == "" {
			task.conn.Mark.ID, task.conn.Mark.Request = identity(cleanID(log.Message))
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
func (k task) live() bool { return k.conn.Phase == goroutines.PhaseActive && k.conn.Serial == k.serial }

// mark begins a task of goroutine g at now. A second task after the first one is over is
// the next request: its bytes were already there, and nothing else showed where one
// ended and the other began.
func (t *tracker) mark(g *goroutines.Goroutine, now trace.Time) task {
	c, _ := g.Request()
	own := g.Conn
	switch {
	case own != nil && own == c && own.Mark.Tasks > 0 && own.Mark.Open == 0 && own.Server.Many():
		end := own.Mark.Ended
		if own.Flushed > end {
			end = own.Flushed
		}
		t.finish(g, end, now)
		own.Phase = goroutines.PhaseEnded
		own.Activate(true)
	case c != nil:
	case own != nil && own.Server != server.None:
		own.Activate(own.Phase != goroutines.PhaseUnknown)
	default:
		g.Stay(now, goroutines.Ended{}, t.follower)
		own = &goroutines.Conn{Server: server.Marked, Phase: goroutines.PhaseNew, Base: now, Based: true}
		own.Activate(true)
		g.Conn = own
	}
	if c == nil {
		c = own
	}
	c.Mark.Tasks++
	c.Mark.Open++
	return task{g, c, c.Serial}
}

func (t *tracker) unmark(k task, now trace.Time) {
	m := &k.conn.Mark
	if m.Open--; m.Open > 0 {
		return
	}
	m.Ended = now
	if k.conn.Server != server.Marked || k.goroutine.Conn != k.conn {
		return
	}
	t.finish(k.goroutine, now, now)
	k.goroutine.Conn = nil
}

// identity splits what the load half sends: a number, and which request of the mix it is, as in "42.3". Other ids stay
// whole.
func identity(text string) (id string, request int) {
	id, of, found := strings.Cut(text, ".")
	if _, err := strconv.ParseInt(id, 10, 64); err != nil || !found {
		return text, 0
	}
	n, err := strconv.ParseUint(of, 10, 31)
	if err != nil || n == 0 {
		return text, 0
	}
	return id, int(n)
}

// cleanID bounds an id, which may be anything in an untrusted trace, and keeps what a
// terminal can show of it.
func cleanID(id string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return '_'
		}
		return r
	}, strings.Clone(id[:min(len(id), maxID)]))
}
