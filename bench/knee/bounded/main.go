// Command bounded is a service whose capacity is known: the number of workers divided by
// the time that each takes per request.
//
//	pool    requests wait for one of the workers, however long
//	lock    the same with one worker behind a mutex
//	queue   a bounded queue before the workers, and 503 when it is full
//
// Service time is kept by the clock and not by sleeping that long each time: that of a
// request that waited counts from when the worker became free. A sleep that ends late
// then delays an answer but costs no capacity.
package main

import (
	"flag"
	"log"
	"net/http"
	"sync"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:18480", "address")
	kind := flag.String("kind", "pool", "pool, lock or queue")
	workers := flag.Int("workers", 4, "how many")
	each := flag.Duration("each", 5*time.Millisecond, "service time")
	flag.Parse()
	var serve http.HandlerFunc
	switch *kind {
	case "pool":
		serve = newPool(*workers, *each).serve
	case "lock":
		serve = (&counter{worker: worker{each: *each}}).serve
	case "queue":
		serve = newQueue(*workers, *each).serve
	default:
		log.Fatalf("no kind %q", *kind)
	}
	log.Fatal(http.ListenAndServe(*listen, serve))
}

// worker serves one request at a time.
type worker struct {
	each time.Duration
	free time.Time // when it becomes free
}

// work serves a request that arrived at the time came.
func (w *worker) work(came time.Time) {
	if w.free.Before(came) {
		w.free = came
	}
	w.free = w.free.Add(w.each)
	time.Sleep(time.Until(w.free))
}

// pool hands out workers.
type pool struct{ free chan *worker }

func newPool(n int, each time.Duration) pool {
	p := pool{make(chan *worker, n)}
	for range n {
		p.free <- &worker{each: each}
	}
	return p
}

func (p pool) serve(http.ResponseWriter, *http.Request) {
	came := time.Now()
	w := <-p.free
	w.work(came)
	p.free <- w
}

// counter has one worker behind a lock.
type counter struct {
	mu     sync.Mutex
	worker worker
}

func (c *counter) serve(http.ResponseWriter, *http.Request) {
	came := time.Now()
	c.mu.Lock()
	c.worker.work(came)
	c.mu.Unlock()
}

// queued are the requests that may wait.
const queued = 32

// queue sheds the requests that do not fit.
type queue struct{ jobs chan job }

type job struct {
	came time.Time
	done chan struct{}
}

func newQueue(n int, each time.Duration) queue {
	q := queue{make(chan job, queued)}
	for range n {
		go func() {
			w := worker{each: each}
			for j := range q.jobs {
				w.work(j.came)
				close(j.done)
			}
		}()
	}
	return q
}

func (q queue) serve(w http.ResponseWriter, _ *http.Request) {
	j := job{time.Now(), make(chan struct{})}
	select {
	case q.jobs <- j:
		<-j.done
	default:
		http.Error(w, "full", http.StatusServiceUnavailable)
	}
}
