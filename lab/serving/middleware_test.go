package serving_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/lab/micro"
)

// chain is what stands before the handlers: seven middlewares of the kind that services
// collect. Those that write have their lines taken by take.
type chain struct {
	take     func(line []byte)
	requests atomic.Int64
	mu       sync.Mutex
	paths    map[string]int
}

func (c *chain) all(next http.Handler) http.Handler {
	return c.identify(c.log(c.count(c.authorize(c.audit(c.headers(c.trace(next)))))))
}

// trimmed leaves out what nobody reads: the count by path, which the log has too, and the
// trace line.
func (c *chain) trimmed(next http.Handler) http.Handler {
	return c.identify(c.log(c.authorize(c.audit(c.headers(next)))))
}

func (c *chain) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", fmt.Sprintf("%016x", c.requests.Add(1))) // wire counts on one length
		next.ServeHTTP(w, r)
	})
}

func (c *chain) log(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		next.ServeHTTP(w, r)
		c.take(fmt.Appendf(nil, "log %s %s %s\n", w.Header().Get("X-Request-Id"), r.URL.Path, time.Since(begun)))
	})
}

func (c *chain) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.paths[r.URL.Path]++
		c.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

func (c *chain) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		w.Header().Set("X-User", hex.EncodeToString(sum[:4]))
		next.ServeHTTP(w, r)
	})
}

func (c *chain) audit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		c.take(fmt.Appendf(nil, "audit %s %s\n", w.Header().Get("X-User"), r.URL.Path))
	})
}

func (c *chain) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

func (c *chain) trace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		c.take(fmt.Appendf(nil, "trace %s\n", r.URL.Path))
	})
}

// later hands lines to one writer over a bounded queue; what finds it full is lost and
// counted.
type later struct {
	lines chan []byte
	lost  atomic.Int64
	ended chan struct{}
}

func writeLater(file *os.File, room int) *later {
	q := &later{lines: make(chan []byte, room), ended: make(chan struct{})}
	go q.run(file)
	return q
}

// run writes what is there in one piece.
func (q *later) run(file *os.File) {
	defer close(q.ended)
	var batch bytes.Buffer
	for line := range q.lines {
		batch.Reset()
		batch.Write(line)
		for range len(q.lines) {
			batch.Write(<-q.lines)
		}
		_, _ = file.Write(batch.Bytes())
	}
}

func (q *later) take(line []byte) {
	select {
	case q.lines <- line:
	default:
		q.lost.Add(1)
	}
}

// close writes what is queued.
func (q *later) close() {
	close(q.lines)
	<-q.ended
}

func logFile(tb testing.TB) *os.File {
	tb.Helper()
	file, err := os.CreateTemp(tb.TempDir(), "log")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = file.Close() })
	return file
}

// atOnce writes each line by a call of its own.
func atOnce(file *os.File) func([]byte) { return func(line []byte) { _, _ = file.Write(line) } }

// BenchmarkMiddleware answers behind seven middlewares that write as they go, or behind
// five whose lines are written later, and reports the lines that were lost for that.
func BenchmarkMiddleware(b *testing.B) {
	c, file := &chain{paths: map[string]int{}}, logFile(b)
	wrap, q := c.all, writeLater(file, 4096)
	c.take = atOnce(file)
	if micro.Of(false, true) {
		wrap, c.take = c.trimmed, q.take
	}
	addr := serve(b, &http.Server{Handler: wrap(http.HandlerFunc(answer)), ReadHeaderTimeout: time.Minute})
	b.Cleanup(q.close) // runs before the file's
	together(b, wires(b, 1, addr, "/orders", body))
	b.ReportMetric(float64(q.lost.Load())/float64(b.N), "lost/op")
}

// BenchmarkMiddlewareByRoute asks for orders and for a health check by turns: the seven
// middlewares stand before both, or before orders alone.
func BenchmarkMiddlewareByRoute(b *testing.B) {
	c := &chain{paths: map[string]int{}, take: atOnce(logFile(b))}
	addr := serve(b, &http.Server{Handler: micro.Of(c.everywhere, c.byRoute)(), ReadHeaderTimeout: time.Minute})
	orders, health := connect(b, addr, "/orders", body), connect(b, addr, "/health", []byte("ok"))
	together(b, []func() error{orders.get, health.get})
}

func routes(orders func(http.Handler) http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/orders", orders(http.HandlerFunc(answer)))
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	return mux
}

func (c *chain) everywhere() http.Handler {
	return c.all(routes(func(h http.Handler) http.Handler { return h }))
}

func (c *chain) byRoute() http.Handler { return routes(c.all) }

// TestMiddleware: the answer and its headers are the same behind both chains, and what was
// queued is written in the end.
func TestMiddleware(t *testing.T) {
	var headers [2]http.Header
	for i, trimmed := range []bool{false, true} {
		c, file := &chain{paths: map[string]int{}}, logFile(t)
		q := writeLater(file, 16)
		wrap := c.all
		c.take = atOnce(file)
		if trimmed {
			wrap, c.take = c.trimmed, q.take
		}
		w := httptest.NewRecorder()
		wrap(http.HandlerFunc(answer)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/orders", nil))
		q.close()
		text, err := os.ReadFile(file.Name())
		if err != nil || !bytes.Contains(text, []byte("log 0000000000000001 /orders")) || !bytes.Contains(text, []byte("audit ")) {
			t.Errorf("trimmed %v: %v, %q", trimmed, err, text)
		}
		if !bytes.Equal(w.Body.Bytes(), body) {
			t.Errorf("trimmed %v: %.50q", trimmed, w.Body)
		}
		headers[i] = w.Result().Header
	}
	if fmt.Sprint(headers[0]) != fmt.Sprint(headers[1]) {
		t.Errorf("%v, %v", headers[0], headers[1])
	}
}

// TestQueueIsBounded: with nobody to write, what does not fit is lost and counted. A
// handler that waited for room would stand as long as the disk does.
func TestQueueIsBounded(t *testing.T) {
	q := &later{lines: make(chan []byte, 4)}
	for range 10 {
		q.take([]byte("line\n"))
	}
	if len(q.lines) != 4 || q.lost.Load() != 6 {
		t.Errorf("%d queued, %d lost", len(q.lines), q.lost.Load())
	}
}

// TestByRoute: each path answers alike, whatever stands before it.
func TestByRoute(t *testing.T) {
	c := &chain{paths: map[string]int{}, take: func([]byte) {}}
	for path, want := range map[string][]byte{"/orders": body, "/health": []byte("ok")} {
		for _, h := range []http.Handler{c.everywhere(), c.byRoute()} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), want) {
				t.Errorf("%s: %d %.50q", path, w.Code, w.Body)
			}
		}
	}
	if c.paths["/health"] != 1 || c.paths["/orders"] != 2 {
		t.Errorf("%v", c.paths)
	}
}
