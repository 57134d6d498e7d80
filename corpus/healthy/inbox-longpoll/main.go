// Command inbox-longpoll tells of new messages. A caller that has seen all of
// them waits until one arrives, or for at most 400 ms: that is its purpose.
package main

import (
	"context"
	"log"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
)

type inbox struct {
	mu    sync.Mutex
	last  int
	fresh chan struct{}
}

func (b *inbox) deliver() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	close(b.fresh)
	b.fresh = make(chan struct{})
}

func (b *inbox) state() (int, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last, b.fresh
}

// next waits until another message comes or ctx ends, and returns the newest.
func (b *inbox) next(ctx context.Context) int {
	last, fresh := b.state()
	select {
	case <-fresh:
		last, _ = b.state()
	case <-ctx.Done():
	}
	return last
}

func main() {
	boxes := make([]*inbox, 40)
	for i := range boxes {
		b := &inbox{fresh: make(chan struct{})}
		boxes[i] = b
		go func() {
			for range time.Tick(time.Duration(150+i*20) * time.Millisecond) {
				b.deliver()
			}
		}()
	}
	r := chi.NewRouter()
	r.Get("/inboxes/{box}/next", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(chi.URLParam(r, "box"))
		ctx, cancel := context.WithTimeout(r.Context(), 400*time.Millisecond)
		defer cancel()
		_, _ = w.Write(strconv.AppendInt(nil, int64(boxes[n%len(boxes)].next(ctx)), 10))
	})
	r.Get("/inboxes/{box}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(chi.URLParam(r, "box"))
		last, _ := boxes[n%len(boxes)].state()
		_, _ = w.Write(strconv.AppendInt(nil, int64(last), 10))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9428", r))
}
