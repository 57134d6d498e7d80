package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Item is one caller's item in a group.
type Item[T, R any] struct {
	// Value is what the caller gave to Do.
	Value T
	// Context is the caller's: for its values, such as the span of its trace. It may
	// end during the write.
	Context context.Context
	// Flush sets Result and Err; the caller gets both.
	Result R
	Err    error

	gone bool // the caller withdrew it
}

// Config is how a [Writer] gathers and writes. The zero value of each field but Flush is
// a usable default.
type Config[T, R any] struct {
	// Flush writes a group, in the order of the calls of Do, and sets Result or Err of
	// each item. The error it returns goes to every item without one of its own. It must
	// not touch the items after it has returned. Required.
	Flush func(context.Context, []*Item[T, R]) error
	// MaxSize is the most items of a group; 0 is 1,000.
	MaxSize int
	// MaxDelay is how long a group that is not full waits for more items, counted from
	// its first; 0 writes at once if a worker is free.
	MaxDelay time.Duration
	// Workers is how many groups are written at a time; 0 is one, which keeps the order
	// of items across groups.
	Workers int
	// Queue is the most items that are gathered or being written; 0 is four groups per
	// worker. It is at least MaxSize, or no group could become full.
	Queue int
	// Timeout bounds the context of one Flush; 0 is no bound.
	Timeout time.Duration
}

// Errors of [Writer.Do].
var (
	// ErrClosed reports a writer that was closed: the item was not written.
	ErrClosed = errors.New("batch: closed")
	// ErrUncertain reports that the caller's context ended during the write: the item
	// may have been written or not. The context's error is wrapped too.
	ErrUncertain = errors.New("batch: the caller left during the write, which may have succeeded")
)

// PanicError is a panic of Flush. Whether the items of the group were written is unknown.
type PanicError struct {
	// Value is that of the panic; nil if Flush ended its goroutine (runtime.Goexit).
	Value any
	// Stack is where it happened, as runtime/debug.Stack writes it.
	Stack []byte
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return "batch: Flush ended its goroutine"
	}
	return fmt.Sprintf("batch: Flush panicked: %v", e.Value)
}

// Writer gathers items. [New] makes one; the zero value does not work. Its methods may be
// called from any number of goroutines. While nothing is to be written it has neither a
// goroutine nor a timer.
type Writer[T, R any] struct {
	config Config[T, R]
	ctx    context.Context // of the writes
	cancel context.CancelFunc
	room   chan struct{} // holds one token per item that is gathered or being written
	ending chan struct{} // closed by Close

	mu     sync.Mutex
	groups []*group[T, R] // in order of arrival; only the last may grow
	busy   int            // workers at work
	usual  int            // items of the last group, a guess for the next
	closed bool
	ended  chan struct{} // closed once the writer is closed and nothing is left
	stats  Stats
}

// Stats is what a writer has done since it was made.
type Stats struct {
	// Groups and Items were passed to Flush; TakenBack are items whose caller left before.
	Groups, Items, TakenBack int64
	// Full, Due and Last count groups by what ended them: their size; the delay, or a
	// free worker; Close.
	Full, Due, Last int64
	// Panics counts those of Flush.
	Panics int64
	// Gathered is the number of items that wait now.
	Gathered int
}

// New makes a writer. The error reports an invalid Config.
func New[T, R any](config Config[T, R]) (*Writer[T, R], error) {
	if config.Flush == nil {
		return nil, errors.New("batch: Config.Flush is required")
	}
	if config.MaxSize < 0 || config.MaxDelay < 0 || config.Workers < 0 || config.Queue < 0 || config.Timeout < 0 {
		return nil, errors.New("batch: sizes and durations must not be negative")
	}
	if config.MaxSize == 0 {
		config.MaxSize = 1000
	}
	config.Workers = max(config.Workers, 1)
	if config.Queue == 0 {
		config.Queue = 4 * config.MaxSize * config.Workers
	}
	config.Queue = max(config.Queue, config.MaxSize)
	w := &Writer[T, R]{
		config: config,
		room:   make(chan struct{}, config.Queue),
		ending: make(chan struct{}),
		ended:  make(chan struct{}),
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w, nil
}

// Do submits an item, waits until its group is written, and returns what Flush set for
// it. It blocks while the queue is full. When ctx ends the error wraps that of ctx, and
// [ErrUncertain] if the write had begun.
func (w *Writer[T, R]) Do(ctx context.Context, value T) (R, error) {
	var none R
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("batch: %w", err)
	}
	select {
	case w.room <- struct{}{}:
	default:
		select {
		case w.room <- struct{}{}:
		case <-ctx.Done():
			return none, fmt.Errorf("batch: waiting for room: %w", ctx.Err())
		case <-w.ending:
			return none, ErrClosed
		}
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		<-w.room
		return none, ErrClosed
	}
	g, at := w.gather(ctx, value)
	w.mu.Unlock()

	select {
	case <-g.written:
	case <-ctx.Done():
		if err := w.takeBack(ctx, g, at); err != nil {
			return none, err
		}
	}
	item := &g.items[at]
	return item.Result, item.Err
}

// takeBack withdraws an item whose write has not begun. It returns nil if the write has
// ended in the meantime.
func (w *Writer[T, R]) takeBack(ctx context.Context, g *group[T, R], at int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !g.taken {
		g.items[at].gone = true
		w.stats.TakenBack++
		return fmt.Errorf("batch: waiting for the write: %w", ctx.Err())
	}
	select {
	case <-g.written:
		return nil
	default:
		return fmt.Errorf("%w: %w", ErrUncertain, ctx.Err())
	}
}

// Close refuses further items, writes those accepted, and returns when that is done. A
// second Close waits too. The error is always nil: an error of a write goes to its
// callers.
func (w *Writer[T, R]) Close() error { return w.Shutdown(context.Background()) }

// Shutdown is Close with a limit: if ctx ends first, it cancels the context of the writes
// in progress and of those that follow, and returns the error of ctx without waiting for
// them.
func (w *Writer[T, R]) Shutdown(ctx context.Context) error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.ending)
		w.dispatch()
		w.end()
	}
	w.mu.Unlock()
	select {
	case <-w.ended:
		w.cancel()
		return nil
	case <-ctx.Done():
		w.cancel()
		return fmt.Errorf("batch: items were not written yet: %w", ctx.Err())
	}
}

// Stats returns a consistent snapshot of the counters.
func (w *Writer[T, R]) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.stats
	for _, g := range w.groups {
		s.Gathered += len(g.items)
	}
	return s
}
