// Package operations counts what a program asks of its databases and of other
// services: statements, transactions, waits for a connection, calls out, each with
// where it was called. Redline's build puts hooks into the packages that do it
// (database/sql, pgx, net/http, gRPC, go-redis); they call Begin and End.
//
// The counts are bounded, whatever the program does: shapes of texts, call stacks and
// their pairs; those beyond the bound are counted as one. Constants are removed from a
// text before its shape is kept, so that the values which a program writes into its
// SQL never leave it.
//
// A call costs some hundred nanoseconds. A stack costs microseconds: after the first
// calls of an operation it is taken of one call in stride, and of an operation with many
// calls more rarely. While an execution trace
// runs Begin and End also log into it: what lies between them on the goroutine belongs
// to the operation.
//
// Nothing here panics into the program, starts a goroutine, or makes a file. Begin
// does nothing before Start and after Stop.
package operations

import (
	"context"
	"runtime/trace"
	"strconv"
	"sync/atomic"
	"time"
)

// Kinds of operation, as the hooks number them.
const (
	Query       = 1
	Exec        = 2
	Prepare     = 3
	Acquire     = 4 // a wait for a connection from a pool
	Transaction = 5
	Batch       = 7
	Copy        = 8
	HTTP        = 9  // name is "METHOD host", more is the path
	Dial        = 10 // a connection of net/http's client: looked up, or opened
	RPC         = 11
	Redis       = 12
	Connect     = 13 // a connection is opened by net/http's client, for the call that asks for one or for a later one
	kinds       = 14
)

// Flags of an operation's end.
const (
	Failed     = 1
	Opened     = 2 // a connection was opened for it
	NoDeadline = 4
	Held       = 8 // not a call: the connection that the operation got was held since start
)

// category is that of the logs in execution traces. Their message is "b KIND OP STACK"
// at an operation's begin and "e OP STACK" at its end; STACK is 0 where none was taken.
const category = "redline.op"

// Bounds.
const (
	maxShapes = 4096
	maxStacks = 8192
	maxCells  = 16384
	maxDepth  = 64      // of a stack that is looked at first
	maxDeep   = 256     // of one that is deeper: the AWS SDK has 70 frames between a call and who asks for it
	inner     = 24      // frames that are kept of its inner end, and of its outer one: a library of
	outer     = 40      // many layers has more between them than anyone reads
	first     = 256     // calls of an operation whose stack is always taken
	stride    = 64      // of later calls one in so many; a power of two
	many      = 1 << 14 // calls of an operation up to which that holds
	rare      = 256     // of calls beyond many one in so many; a power of two
)

// An operation's number, as the hooks carry it: from the lowest, 16 bits each, its
// shape and its stack, flags, and the bucket of an identified call.
const (
	stackShift = 16
	sampled    = 1 << 32 // the stack is taken: the call counts in its cell
	logged     = 1 << 33 // its begin is in a trace
)

var (
	running int32
	started int32 // once, by hooks that are there
	base    = time.Now()
	log     = trace.Log // a test sees what is logged
)

// Start begins to count.
func Start() {
	atomic.StoreInt32(&started, 1)
	atomic.StoreInt32(&running, 1)
}

// Stop ends counting; operations that have begun are still ended.
func Stop() { atomic.StoreInt32(&running, 0) }

// Started reports whether there are hooks that count: Start was called once.
func Started() bool { return atomic.LoadInt32(&started) != 0 }

// counting reports whether operations are counted.
func counting() bool { return atomic.LoadInt32(&running) != 0 }

func now() int64 { return int64(time.Since(base)) }

// Begin is called where an operation begins. For kind 0 it only returns the time. op is
// zero while nothing is counted.
func Begin(kind uint32, name, more string) (op uint64, start int64) {
	return begin(kind, name, more, false)
}

// BeginOuter is Begin in a package that also serves database/sql as a driver: a call
// from database/sql was counted there and is not counted again.
func BeginOuter(kind uint32, name, more string) (op uint64, start int64) {
	return begin(kind, name, more, true)
}

func begin(kind uint32, name, more string, outer bool) (op uint64, start int64) {
	if kind == 0 {
		return 0, now()
	}
	if kind >= kinds || !counting() {
		return 0, 0
	}
	defer func() { _ = recover() }() // nothing of ours ends the program
	id := all.shape(kind, name, more)
	s := all.shapes[id]
	if outer && s.belowSQL(kind) {
		return 0, 0
	}
	calls := atomic.AddInt64(&s.begun, 1)
	op = uint64(id) + 1
	stack := uint16(0)
	if calls <= first || calls%stride == 0 && (calls <= many || calls%rare == 0) {
		stack = all.stack()
		op |= uint64(stack)<<stackShift | sampled
	}
	// A wait for a connection is known by its stack, and most are none.
	if kind != Acquire && trace.IsEnabled() {
		op |= logged
		log(context.Background(), category, message("b "+strconv.Itoa(int(kind)), id, stack))
	}
	return op, now()
}

func message(what string, id, stack uint16) string {
	return what + " " + strconv.Itoa(int(id)) + " " + strconv.Itoa(int(stack))
}

// End is called where the operation that Begin numbered ends, with the rows that it
// read or changed. It may be on another goroutine.
func End(op uint64, start, rows int64, flags uint32) {
	defer func() { _ = recover() }()
	id, stack := uint16(op)-1, uint16(op>>stackShift)
	if op == 0 || int(id) >= maxShapes {
		return
	}
	if op&identified != 0 && flags&Held == 0 {
		forget(op)
	}
	took := now() - start
	s := all.shapes[id]
	if flags&Held != 0 {
		atomic.AddInt64(&s.held, took)
		if op&sampled != 0 {
			if c := all.cell(id, stack); c != nil {
				atomic.AddInt64(&c.held, took)
			}
		}
		return
	}
	if op&logged != 0 && trace.IsEnabled() {
		log(context.Background(), category, message("e", id, stack))
	}
	s.add(took, rows, flags)
	if op&sampled != 0 {
		if c := all.cell(id, stack); c != nil {
			c.add(took, rows, flags)
		}
	}
}

// figures are an operation's, or a caller's share of them.
type figures struct {
	calls, errors, nanos, longest, rows, opened, undated, held int64
}

func (f *figures) add(took, rows int64, flags uint32) {
	atomic.AddInt64(&f.calls, 1)
	atomic.AddInt64(&f.nanos, took)
	if rows > 0 {
		atomic.AddInt64(&f.rows, rows)
	}
	if flags&Failed != 0 {
		atomic.AddInt64(&f.errors, 1)
	}
	if flags&Opened != 0 {
		atomic.AddInt64(&f.opened, 1)
	}
	if flags&NoDeadline != 0 {
		atomic.AddInt64(&f.undated, 1)
	}
	for {
		longest := atomic.LoadInt64(&f.longest)
		if took <= longest || atomic.CompareAndSwapInt64(&f.longest, longest, took) {
			return
		}
	}
}
