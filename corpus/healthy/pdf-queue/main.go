// Command pdf-queue has tickets printed by a pool of workers.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"
)

var errFull = errors.New("queue is full")

type result[O any] struct {
	out O
	err error
}

type job[I, O any] struct {
	ctx  context.Context
	in   I
	done chan result[O]
}

// Pool runs work on a fixed number of goroutines behind a bounded queue.
type Pool[I, O any] struct{ jobs chan job[I, O] }

func NewPool[I, O any](workers, queue int, work func(context.Context, I) (O, error)) *Pool[I, O] {
	p := &Pool[I, O]{make(chan job[I, O], queue)}
	for range workers {
		go func() {
			for j := range p.jobs {
				out, err := work(j.ctx, j.in)
				j.done <- result[O]{out, err}
			}
		}()
	}
	return p
}

func (p *Pool[I, O]) Do(ctx context.Context, in I) (out O, err error) {
	j := job[I, O]{ctx, in, make(chan result[O], 1)}
	select {
	case p.jobs <- j:
	default:
		return out, errFull
	}
	select {
	case r := <-j.done:
		return r.out, r.err
	case <-ctx.Done():
		return out, ctx.Err()
	}
}

// printed waits for the printer, which takes 4 ms a ticket.
func printed(ctx context.Context, ticket string) (string, error) {
	t := time.NewTimer(4 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return "printed " + ticket, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func main() {
	pool := NewPool(24, 256, printed)
	http.HandleFunc("POST /tickets/{ticket}/print", func(w http.ResponseWriter, r *http.Request) {
		out, err := pool.Do(r.Context(), r.PathValue("ticket"))
		switch {
		case errors.Is(err, errFull):
			w.Header().Set("Retry-After", "1")
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			fmt.Fprintln(w, out)
		}
	})
	http.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9831", nil))
}
