package anatomy_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/timebase"
)

// tracing guards the runtime's one execution trace.
var tracing sync.Mutex

// handled is what a handler saw of one request.
type handled struct {
	goroutine int64
	from, to  time.Duration
}

// goroutine returns the caller's id, which only its stack dump shows.
func goroutine() int64 {
	var buf [64]byte
	text, _, _ := bytes.Cut(bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine ")), []byte(" "))
	id, _ := strconv.ParseInt(string(text), 10, 64)
	return id
}

// quiet is a server's error log that keeps the tests' output readable: handlers
// here panic on purpose.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// witness wraps a handler and writes down when it began and ended.
type witness struct {
	clock timebase.Clock
	next  http.Handler
	mu    sync.Mutex
	seen  []handled
}

func (w *witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.run(func() { w.next.ServeHTTP(rw, r) })
}

// run writes down what a handler of any server does.
func (w *witness) run(handle func()) {
	from := w.clock.Now()
	// Deferred, so that a panic is seen too.
	defer func() {
		to := w.clock.Now()
		w.mu.Lock()
		w.seen = append(w.seen, handled{goroutine(), from, to})
		w.mu.Unlock()
	}()
	handle()
}

func (w *witness) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}

// after returns when the handler ran next on the same connection, by which time
// the request of h has ended.
func (w *witness) after(h handled) (next time.Duration, ok bool) {
	for _, other := range w.seen {
		if other.goroutine == h.goroutine && other.from > h.from && (!ok || other.from < next) {
			next, ok = other.from, true
		}
	}
	return next, ok
}

// live is a real server on loopback and what came of tracing it.
type live struct {
	t       *testing.T
	server  *http.Server
	addr    string
	reads   *watchful
	witness *witness
	done    chan error
}

// serve starts a server; setup may be nil. A setup that sets TLSConfig makes it
// serve TLS.
func serve(t *testing.T, h http.HandlerFunc, setup func(*http.Server)) *live {
	t.Helper()
	v, l := listen(t)
	v.witness.next = h
	v.server = &http.Server{Handler: v.witness, ErrorLog: quiet()}
	if setup != nil {
		setup(v.server)
	}
	if v.server.TLSConfig != nil {
		l = tls.NewListener(l, v.server.TLSConfig)
	}
	go func() { v.done <- v.server.Serve(l) }()
	t.Cleanup(func() { v.server.Close(); <-v.done })
	return v
}

// listen makes a live without a server, for tests that bring their own.
func listen(t *testing.T) (*live, net.Listener) {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	reads := watch(l)
	return &live{t: t, addr: l.Addr().String(), reads: reads, witness: &witness{clock: clock}, done: make(chan error, 1)}, reads
}

func (v *live) url() string { return "http://" + v.addr }

// await returns when n handlers have returned.
func (v *live) await(n int) {
	v.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		seen := v.witness.count()
		if seen >= n {
			return
		}
		if time.Now().After(deadline) {
			v.t.Fatalf("%d of %d handlers returned", seen, n)
		}
		time.Sleep(time.Millisecond)
	}
}

// capture traces load. The server is up before the trace begins, and is shut down, so
// that every request has ended, before the trace ends.
func (v *live) capture(load func()) []byte {
	v.t.Helper()
	return v.traced(func() {
		load()
		v.shutdown()
	})
}

// traced returns the trace of what do does.
func (v *live) traced(do func()) []byte {
	v.t.Helper()
	tracing.Lock()
	defer tracing.Unlock()
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		v.t.Fatal(err)
	}
	do()
	trace.Stop()
	return buf.Bytes()
}

func (v *live) shutdown() {
	// Shutdown returns when no connection is active, so every request has ended;
	// connections are closed but their goroutines may live on a little.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := v.server.Shutdown(ctx); err != nil {
		v.t.Logf("shutdown: %v", err)
	}
}

// dissect analyzes and returns all whole requests.
func (v *live) dissect(data []byte) (*breakdown.Anatomy, []breakdown.Timeline) {
	v.t.Helper()
	var lines []breakdown.Timeline
	a, err := analyze(bytes.NewReader(data), anatomy.Options{
		Clock: v.witness.clock,
		Each:  func(l breakdown.Timeline) { lines = append(lines, l) },
	})
	if err != nil {
		v.t.Fatal(err)
	}
	checkShape(v.t, a, lines)
	return a, lines
}

// checkShape asserts what holds of every anatomy.
func checkShape(t *testing.T, a *breakdown.Anatomy, lines []breakdown.Timeline) {
	t.Helper()
	for _, l := range lines {
		at := l.From
		for _, s := range l.Segments {
			if s.From != at || s.NS <= 0 {
				t.Fatalf("goroutine %d: segment at %v of %d ns follows an end at %v", l.Goroutine, s.From, s.NS, at)
			}
			at += time.Duration(s.NS)
		}
		if at != l.To {
			t.Fatalf("goroutine %d: segments end at %v, the request at %v", l.Goroutine, at, l.To)
		}
	}
	for name, band := range map[string]struct {
		parts []breakdown.Part
		mean  time.Duration
	}{"all": {a.All, a.MeanNS}, "median": {a.Median, a.MedianNS}, "tail": {a.Tail, a.TailNS}} {
		var sum time.Duration
		for _, p := range band.parts {
			sum += time.Duration(p.NS)
			var behind int64
			for _, c := range p.Behind {
				if behind += c.NS; len(c.Links) == 0 {
					t.Errorf("%s: an empty chain behind %s", name, p.Site)
				}
			}
			if behind > p.NS+1 { // both are rounded
				t.Errorf("%s: %d ns behind %s at %s, which took %d", name, behind, p.State, p.Site, p.NS)
			}
		}
		if sum != band.mean {
			t.Errorf("%s: parts add up to %v, the mean is %v", name, sum, band.mean)
		}
	}
}

// matchHandlers asserts that the handler's runs, connection by connection, lie
// within one request each.
func (v *live) matchHandlers(lines []breakdown.Timeline) {
	v.t.Helper()
	// The two clocks are read one after the other.
	slack := v.witness.clock.EpochError + time.Microsecond
	found := map[int64][]breakdown.Timeline{}
	for _, l := range lines {
		found[l.Goroutine] = append(found[l.Goroutine], l)
	}
	for _, h := range v.witness.seen {
		list := found[h.goroutine]
		if len(list) == 0 {
			v.t.Errorf("goroutine %d: no request for the handler's run from %v to %v", h.goroutine, h.from, h.to)
			continue
		}
		if l := list[0]; l.From > h.from+slack || l.To < h.to-slack {
			v.t.Errorf("goroutine %d: handler ran from %v to %v, request from %v to %v", h.goroutine, h.from, h.to, l.From, l.To)
		}
		found[h.goroutine] = list[1:]
	}
	for id, list := range found {
		for _, l := range list {
			v.t.Errorf("goroutine %d: one request too many, from %v to %v: %+v", id, l.From, l.To, l.Segments)
		}
	}
}

func get(c *http.Client, url string) error {
	resp, err := c.Get(url)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return err
}

// errStop ends a closed loop early.
var errStop = errors.New("enough")

// closedLoop sends n requests over each of conns connections.
func closedLoop(t *testing.T, conns, n int, send func(c *http.Client, i int) error) {
	t.Helper()
	tr := &http.Transport{MaxIdleConnsPerHost: conns}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr}
	var wg sync.WaitGroup
	for range conns {
		wg.Go(func() {
			for i := range n {
				if err := send(client, i); errors.Is(err, errStop) {
					return
				} else if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func readFixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
