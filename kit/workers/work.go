package workers

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/redline-go/redline/kit/ring"
)

// work is one worker.
func (p *Pool) work() {
	left := false
	defer func() {
		if !left {
			// The task called runtime.Goexit, which no one can stop. Another goroutine takes over
			// this one's place, also while the pool drains.
			go p.work()
			return
		}
		p.workers.Add(-1)
		p.end()
	}()
	for {
		task, err := p.next()
		switch {
		case err != nil:
			left = true
			p.leave()
			return
		case task == nil:
			if left = p.mayLeave(); left {
				return
			}
		case p.ctx.Err() != nil:
			p.dropped.Add(1)
		default:
			p.run(task)
		}
	}
}

// next returns the next task; its error is ErrClosed.
func (p *Pool) next() (Task, error) {
	task, err := p.queue.TryTake()
	if err != ring.ErrEmpty {
		return task, err
	}
	p.idle.Add(1)
	task, err = p.queue.Take(context.Background())
	p.idle.Add(-1)
	// A submitter may have counted on this worker for a second task.
	p.call()
	return task, err
}

// leave notes that a worker found the queue closed and empty.
func (p *Pool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.staying--
	if p.staying == 0 {
		close(p.last)
	}
}

// mayLeave reports whether Min workers remain without this one.
func (p *Pool) mayLeave() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.staying <= p.options.Min {
		return false
	}
	p.staying--
	p.retired.Add(1)
	return true
}

func (p *Pool) run(task Task) {
	returned := false
	defer func() {
		value := recover()
		if !returned && value == nil {
			value = ErrExited
		}
		if value != nil {
			p.panicked.Add(1)
			p.report(value, debug.Stack())
		}
		p.finished.Add(1)
	}()
	task(p.ctx)
	returned = true
}

// report calls OnPanic. If that panics too, its panic is logged.
func (p *Pool) report(value any, stack []byte) {
	defer func() {
		if second := recover(); second != nil {
			logPanic(fmt.Sprintf("OnPanic: %v, called for: %v", second, value), debug.Stack())
		}
	}()
	p.options.OnPanic(value, stack)
}

func logPanic(value any, stack []byte) {
	slog.Error("workers: a task panicked", "panic", fmt.Sprint(value), "stack", string(stack))
}
