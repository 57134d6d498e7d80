package serving_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/semaphore" // the claim's own form of admission

	"github.com/redline-go/redline/kit/shed"
	"github.com/redline-go/redline/kit/workers"
	"github.com/redline-go/redline/lab/micro"
)

const (
	// burst requests come at once; all of them take about steps * step * burst / CPUs.
	burst = 160
	steps = 10
	step  = 100 * time.Microsecond
	// patience is how long a request may take. All at once take longer than that.
	patience = 40 * time.Millisecond
)

// admission is what stands before the work: nothing, a semaphore, or kit/shed.
type admission func(http.Handler) http.Handler

func admitAll(next http.Handler) http.Handler { return next }

// admitFew lets four requests per CPU at the work and has the others wait as long as their
// client does.
func admitFew(next http.Handler) http.Handler {
	few := semaphore.NewWeighted(int64(4 * runtime.NumCPU()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if few.Acquire(r.Context(), 1) != nil {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		defer few.Release(1)
		next.ServeHTTP(w, r)
	})
}

// admitLearnt lets kit/shed find out how many.
func admitLearnt(next http.Handler) http.Handler {
	limiter, err := shed.New(shed.Options{Initial: 4 * runtime.NumCPU(), Window: 10 * time.Millisecond})
	if err != nil {
		panic(err) // the options are constants
	}
	return shed.Handler{Limiter: limiter, Next: next}
}

// work computes in steps, between which others have their turn, and gives up once its
// client has.
func work(w http.ResponseWriter, r *http.Request) {
	for range steps {
		if r.Context().Err() != nil {
			http.Error(w, "late", http.StatusServiceUnavailable)
			return
		}
		for begun := time.Now(); time.Since(begun) < step; {
		}
		runtime.Gosched()
	}
	answer(w, r)
}

// impatient ends each request after its client's limit.
func impatient(limit time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// BenchmarkSemaphore reports how many of a burst are not answered in time: all are let at
// the work, or a few. BenchmarkShed has kit/shed find the number, under 400 requests that
// come at about twice what two CPUs can do.
func BenchmarkSemaphore(b *testing.B) {
	overload(b, burst, 0, micro.Of[admission](admitAll, admitFew))
}

func BenchmarkShed(b *testing.B) {
	overload(b, 400, 250*time.Microsecond, micro.Of[admission](admitAll, admitLearnt))
}

func overload(b *testing.B, n int, gap time.Duration, admit admission) {
	all := visitors(b, n, patience, admit)
	lost := 0
	for b.Loop() {
		lost += volley(b, all, gap)
	}
	b.ReportMetric(float64(lost)/float64(b.N), "failed/op")
}

// visitors are clients of the work behind an admission.
func visitors(tb testing.TB, n int, limit time.Duration, admit admission) []*visitor {
	tb.Helper()
	addr := serve(tb, &http.Server{Handler: impatient(limit, admit(http.HandlerFunc(work))), ReadHeaderTimeout: time.Minute})
	all := make([]*visitor, n)
	for i := range all {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = conn.Close() })
		all[i] = &visitor{conn, bufio.NewReader(conn)}
	}
	return all
}

// visitor is a client that takes what status it gets.
type visitor struct {
	conn net.Conn
	in   *bufio.Reader
}

func (v *visitor) ask() (ok bool, err error) {
	if _, err := io.WriteString(v.conn, "GET / HTTP/1.1\r\nHost: lab\r\n\r\n"); err != nil {
		return false, err
	}
	resp, err := http.ReadResponse(v.in, nil)
	if err != nil {
		return false, err
	}
	got, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return false, err
	}
	if string(got) != string(body) {
		err = errBody
	}
	return true, err
}

// volley has all ask, each so long after the one before, and returns how many were not
// served.
func volley(tb testing.TB, all []*visitor, gap time.Duration) int {
	tb.Helper()
	var lost atomic.Int64
	var wait sync.WaitGroup
	begun := time.Now()
	for i, v := range all {
		wait.Go(func() {
			time.Sleep(time.Until(begun.Add(time.Duration(i) * gap)))
			ok, err := v.ask()
			if err != nil {
				tb.Error(err)
			}
			if !ok {
				lost.Add(1)
			}
		})
	}
	wait.Wait()
	return int(lost.Load())
}

// TestAdmission: with enough patience all are served, except by kit/shed, which turns away
// at once whom it has no room for; with none, nobody is. All get an answer.
func TestAdmission(t *testing.T) {
	for name, admit := range map[string]admission{"all": admitAll, "few": admitFew, "learnt": admitLearnt} {
		if lost := volley(t, visitors(t, burst, time.Minute, admit), 0); lost == burst || lost > 0 && name != "learnt" {
			t.Errorf("%s: %d of %d are turned away", name, lost, burst)
		}
		if lost := volley(t, visitors(t, 4, 0, admit), 0); lost != 4 {
			t.Errorf("%s: %d of 4 are served too late", name, 4-lost)
		}
	}
}

// BenchmarkElasticWorkers runs a burst of tasks that wait a millisecond each on two
// workers, or on as many as the queue calls for.
func BenchmarkElasticWorkers(b *testing.B) {
	p, err := workers.New(micro.Of(fixed, elastic))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = p.Close(context.Background()) }()
	for b.Loop() {
		if n := errands(b, p, 200); n != 200 {
			b.Fatalf("%d of 200 tasks ran", n)
		}
	}
}

var (
	fixed   = workers.Options{Min: 2, Max: 2, Queue: 256}
	elastic = workers.Options{Min: 2, Max: 64, Queue: 256, Tick: time.Millisecond, Idle: 50 * time.Millisecond}
)

// errands submits tasks and returns how many ran.
func errands(tb testing.TB, p *workers.Pool, n int) int {
	tb.Helper()
	var ran atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Add(1)
		if err := p.Submit(tb.Context(), func(context.Context) {
			defer all.Done()
			time.Sleep(time.Millisecond) // what waits for a disk or another service
			ran.Add(1)
		}); err != nil {
			tb.Fatal(err)
		}
	}
	all.Wait()
	return int(ran.Load())
}

func TestElasticWorkers(t *testing.T) {
	for name, options := range map[string]workers.Options{"fixed": fixed, "elastic": elastic} {
		p, err := workers.New(options)
		if err != nil {
			t.Fatal(err)
		}
		if n := errands(t, p, 60); n != 60 {
			t.Errorf("%s: %d of 60 tasks ran", name, n)
		}
		if peak := p.Stats().Peak; peak > options.Max || peak < options.Min {
			t.Errorf("%s: %d workers", name, peak)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
