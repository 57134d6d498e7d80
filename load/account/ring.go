package account

import (
	"sync/atomic"
	"time"
)

// Sample is one ended request as it travels from its loop to the histograms.
type Sample struct {
	Intended, Sent, First, Done time.Duration // run time; Sent and First are 0 where there was none
	// Own is the part of the schedule lag that the generator caused: the time until sending
	// during which the connection was open and free.
	Own               time.Duration
	ID                int64
	Failed            uint64 // as Exchange.Failed
	BytesIn, BytesOut uint32
	Request           int32
	Connection        int32
	Status            uint16
	Kind              uint8  // index into failure.Kinds; 0 is success
	Message           uint8  // number of the failure's message; 0 for none
	Trace             uint32 // index of its Trace; 0 for none
}

// ring carries samples from one loop to whoever empties it, without a lock: only the
// loop moves tail, and head moves under the collector's lock. When it is full the
// loop empties it itself, so nothing is lost and nothing grows.
type ring struct {
	samples []Sample // length is a power of two
	head    atomic.Uint64
	_       [56]byte // head and tail are written by different CPUs
	tail    atomic.Uint64
}

// ringLength is how many samples a ring holds: 80 KiB, which stay in a core's
// cache.
const ringLength = 1 << 10

// push appends s, or returns false when the ring is full.
func (r *ring) push(s *Sample) bool {
	tail := r.tail.Load()
	if tail-r.head.Load() == uint64(len(r.samples)) {
		return false
	}
	// The sample is written before tail moves: sync/atomic orders both, so a reader that sees
	// the new tail sees the sample.
	r.samples[tail&uint64(len(r.samples)-1)] = *s
	r.tail.Store(tail + 1)
	return true
}

// drain hands every sample to f, oldest first. Only one drain may run at a
// time.
func (r *ring) drain(f func(*Sample)) {
	head, tail := r.head.Load(), r.tail.Load()
	for ; head < tail; head++ {
		f(&r.samples[head&uint64(len(r.samples)-1)])
	}
	r.head.Store(head)
}
