package main

import (
	"errors"
	"hash/adler32"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ErrLate says that a proof was not ready in time.
var ErrLate = errors.New("proof is not ready")

// Report is what was found in a proof.
type Report struct {
	ID       uint64   `json:"id"`
	Sum      uint32   `json:"sum"`
	Warnings []string `json:"warnings"`
}

type proof struct {
	id   uint64
	card card
	done chan struct{}
	Report
}

// Press checks proofs on a few goroutines.
type Press struct {
	queue chan *proof
	last  atomic.Uint64

	mu     sync.Mutex
	proofs map[uint64]*proof
}

// NewPress starts the goroutines.
func NewPress(workers int) *Press {
	p := &Press{queue: make(chan *proof, 128), proofs: map[uint64]*proof{}}
	for range workers {
		go func() {
			for job := range p.queue {
				job.Report = inspect(job.id, job.card)
				close(job.done)
			}
		}()
	}
	return p
}

// Submit queues a card and returns the number of its proof.
func (p *Press) Submit(c card) uint64 {
	job := &proof{id: p.last.Add(1), card: c, done: make(chan struct{})}
	p.mu.Lock()
	p.proofs[job.id] = job
	p.mu.Unlock()
	p.queue <- job
	return job.id
}

func (p *Press) find(id uint64) *proof {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proofs[id]
}

func (p *Press) forget(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.proofs, id)
}

// Ready reports whether a proof has been checked.
func (p *Press) Ready(id uint64) bool {
	select {
	case <-p.find(id).done:
		return true
	default:
		return false
	}
}

// poll looks for the report of a proof until it is there.
func poll(p *Press, id uint64, most time.Duration) (Report, error) {
	defer p.forget(id)
	for deadline := time.Now().Add(most); !p.Ready(id); {
		if time.Now().After(deadline) {
			return Report{}, ErrLate
		}
		time.Sleep(15 * time.Millisecond)
	}
	return p.find(id).Report, nil
}

// wait returns the report of a proof as soon as it is there.
func wait(p *Press, id uint64, most time.Duration) (Report, error) {
	defer p.forget(id)
	job := p.find(id)
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-job.done:
		return job.Report, nil
	case <-late.C:
		return Report{}, ErrLate
	}
}

func inspect(id uint64, c card) Report {
	r := Report{ID: id, Sum: adler32.Checksum([]byte(c.Name)), Warnings: []string{}}
	for _, l := range c.Lines {
		r.Sum ^= adler32.Checksum([]byte(l))
		if 4*len(l) > c.Width {
			r.Warnings = append(r.Warnings, "too long: "+l)
		}
		if strings.TrimSpace(l) != l {
			r.Warnings = append(r.Warnings, "spaces: "+l)
		}
	}
	return r
}
