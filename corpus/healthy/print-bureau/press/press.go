// Package press sets pages for printing on a few workers.
package press

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("press: closed")

// Order is a text to be set.
type Order struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	Width int    `json:"width"`
}

// Proof is a set text.
type Proof struct {
	Pages int    `json:"pages"`
	Lines int    `json:"lines"`
	Sum   string `json:"sum"`
	Stock string `json:"stock"`
}

type task struct {
	order Order
	proof Proof
	done  chan struct{}
}

// Press is a queue with its workers.
type Press struct {
	mu     sync.Mutex
	work   sync.Cond
	queue  []*task
	closed bool
	idle   sync.WaitGroup
}

// New starts a press of n workers.
func New(n int) *Press {
	p := &Press{}
	p.work.L = &p.mu
	for range n {
		p.idle.Go(p.worker)
	}
	return p
}

// Close ends the workers once the queue is empty.
func (p *Press) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.work.Broadcast()
	p.idle.Wait()
}

// Set sets an order.
func (p *Press) Set(ctx context.Context, o Order) (Proof, error) {
	t := &task{order: o, done: make(chan struct{})}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return Proof{}, ErrClosed
	}
	p.queue = append(p.queue, t)
	p.mu.Unlock()
	p.work.Signal()
	select {
	case <-t.done:
		return t.proof, nil
	case <-ctx.Done():
		return Proof{}, ctx.Err()
	}
}

func (p *Press) worker() {
	for {
		p.mu.Lock()
		for len(p.queue) == 0 && !p.closed {
			p.work.Wait()
		}
		if len(p.queue) == 0 {
			p.mu.Unlock()
			return
		}
		t := p.queue[0]
		p.queue = p.queue[1:]
		p.mu.Unlock()
		t.proof = set(t.order)
		close(t.done)
	}
}

const linesPerPage = 38

func set(o Order) Proof {
	var b bytes.Buffer
	lines, col := 1, 0
	fmt.Fprintf(&b, "%s\n\n", strings.ToUpper(o.Title))
	for range 12 { // a proof has the text in twelve faces
		for w := range strings.FieldsSeq(o.Text) {
			if col+1+len(w) > o.Width {
				b.WriteByte('\n')
				lines, col = lines+1, 0
			}
			b.WriteByte(' ')
			b.WriteString(w)
			col += 1 + len(w)
		}
	}
	return Proof{Pages: 1 + lines/linesPerPage, Lines: lines, Sum: fmt.Sprintf("%08x", crc32.ChecksumIEEE(b.Bytes()))}
}
