// Package queue hands jobs to workers.
package queue

import (
	"sync"
	"sync/atomic"
)

// Job is a picture to draw.
type Job struct {
	ID      uint64
	Article string
	Side    int
}

// Queue holds jobs until a worker is free.
type Queue struct {
	jobs chan Job
	last atomic.Uint64
}

// Start makes a queue of so many jobs, and its workers.
func Start(workers, size int, work func(Job)) *Queue {
	q := &Queue{jobs: make(chan Job, size)}
	for range workers {
		go func() {
			for j := range q.jobs {
				work(j)
			}
		}()
	}
	return q
}

// Offer puts a job into the queue, unless it is full.
func (q *Queue) Offer(article string, side int) (uint64, bool) {
	j := Job{q.last.Add(1), article, side}
	select {
	case q.jobs <- j:
		return j.ID, true
	default:
		return 0, false
	}
}

// Waiting is how many jobs wait.
func (q *Queue) Waiting() int { return len(q.jobs) }

// Results keeps the results that were made last.
type Results struct {
	mu   sync.Mutex
	ring [][]byte
	at   map[uint64]int
	ids  []uint64
	next int
}

// NewResults keeps so many results.
func NewResults(n int) *Results {
	return &Results{ring: make([][]byte, n), ids: make([]uint64, n), at: make(map[uint64]int, n)}
}

// Put keeps a result.
func (r *Results) Put(id uint64, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.at, r.ids[r.next])
	r.ring[r.next], r.ids[r.next], r.at[id] = data, id, r.next
	r.next = (r.next + 1) % len(r.ring)
}

// Len is how many results are kept.
func (r *Results) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.at)
}
