// Command report-status prepares reports in the background and
// lets callers wait for them. The wait asks every 25 ms whether
// the report is there, though it is ready after some microseconds.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
)

type report struct {
	ready atomic.Bool
	lines []string
}

type desk struct {
	pending chan *report
	reports sync.Pool
}

func (d *desk) prepare() {
	for r := range d.pending {
		r.lines = r.lines[:0]
		for i := range 40 {
			r.lines = append(r.lines, fmt.Sprintf("line %d", i))
		}
		r.ready.Store(true)
	}
}

// poll is how long a caller sleeps before it looks again.
var poll = 25 * time.Millisecond

func (d *desk) await(r *report) {
	for !r.ready.Load() {
		time.Sleep(poll)
	}
}

func main() {
	if os.Getenv("FIXED") != "" {
		poll = 50 * time.Microsecond
	}
	d := &desk{pending: make(chan *report, 256)}
	d.reports.New = func() any { return new(report) }
	for range 4 {
		go d.prepare()
	}
	r := chi.NewRouter()
	r.Get("/reports/{month}", func(w http.ResponseWriter, _ *http.Request) {
		one := d.reports.Get().(*report)
		one.ready.Store(false)
		d.pending <- one
		d.await(one)
		_, _ = fmt.Fprintln(w, len(one.lines))
		d.reports.Put(one)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9413", r))
}
