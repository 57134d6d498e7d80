package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix" // the CPU time of a thread
)

// answers says how requests are answered. The zero value answers at once.
type answers struct {
	latency, jitter time.Duration // jitter is uniform, on top
	slowEvery       int64         // one request in so many takes slow longer; 0 is none
	slow            time.Duration
	fail, stall     float64 // shares of the requests, 0 to 1
	cpu             time.Duration
	capacity        int // requests in progress at once; 0 is no bound
	body            int // bytes

	seats   chan struct{}
	content []byte
	count   atomic.Int64
}

func (a *answers) flags(f *flag.FlagSet) {
	f.DurationVar(&a.latency, "latency", 0, "wait before each answer")
	f.DurationVar(&a.jitter, "jitter", 0, "wait up to so much longer, evenly spread")
	f.Int64Var(&a.slowEvery, "slow-every", 0, "each so many-th request waits -slow longer")
	f.DurationVar(&a.slow, "slow", 0, "see -slow-every")
	f.Float64Var(&a.fail, "fail", 0, "part of the requests that is answered 503, 0 to 1")
	f.Float64Var(&a.stall, "stall", 0, "part of the requests that is never answered, 0 to 1")
	f.DurationVar(&a.cpu, "cpu", 0, "CPU time to burn for each answer")
	f.IntVar(&a.capacity, "capacity", 0, "requests worked on at a time; others queue")
	f.IntVar(&a.body, "body", 64, "bytes of an answer")
}

// ready checks the flags and makes what the answers share.
func (a *answers) ready() error {
	for name, part := range map[string]float64{"fail": a.fail, "stall": a.stall} {
		if !(part >= 0 && part <= 1) {
			return fmt.Errorf("-%s %g is no part: 0 to 1", name, part)
		}
	}
	const mostBody = 64 << 20
	if a.body < 0 || a.body > mostBody || a.capacity < 0 || a.slowEvery < 0 || min(a.latency, a.jitter, a.slow, a.cpu) < 0 {
		return fmt.Errorf("a flag is below 0, or -body above %d", mostBody)
	}
	if a.capacity > 0 {
		a.seats = make(chan struct{}, a.capacity)
	}
	const head, tail = `{"state":"ok","note":"`, `"}`
	a.content = []byte(head + string(bytes.Repeat([]byte{'n'}, max(0, a.body-len(head)-len(tail)))) + tail)
	return nil
}

// ServeHTTP takes a seat, waits, works and answers.
func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	gone := r.Context().Done()
	// The body is read, so that the connection can be reused.
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 16<<20))
	if a.stall > 0 && rand.Float64() < a.stall {
		<-gone
		return
	}
	if a.seats != nil {
		select {
		case a.seats <- struct{}{}:
			defer func() { <-a.seats }()
		case <-gone:
			return
		}
	}
	wait := a.latency
	if a.jitter > 0 {
		wait += rand.N(a.jitter)
	}
	if n := a.count.Add(1); a.slowEvery > 0 && n%a.slowEvery == 0 {
		wait += a.slow
	}
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-gone:
			return
		}
	}
	burn(a.cpu)
	if a.fail > 0 && rand.Float64() < a.fail {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(a.content)))
	_, _ = w.Write(a.content)
}

// burn uses CPU time, however long that takes on a busy machine.
func burn(d time.Duration) {
	if d <= 0 {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spent := uint64(1)
	for begin := used(); used()-begin < d; {
		for range 1000 {
			spent = spent*6364136223846793005 + 1442695040888963407
		}
	}
	runtime.KeepAlive(spent) // the compiler must not eliminate the work
}

func used() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
