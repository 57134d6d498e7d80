package shed_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/kit/shed"
)

func acquire(t *testing.T, l *shed.Limiter) *shed.Permit {
	t.Helper()
	p, err := l.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheLimitIsABound(t *testing.T) {
	l := limiter(t, shed.Options{Initial: 3, Min: 3, Max: 3})
	permits := []*shed.Permit{acquire(t, l), acquire(t, l), acquire(t, l)}
	if _, err := l.Acquire(); err != shed.ErrShed {
		t.Errorf("the fourth of three: %v", err)
	}
	// Only the first end of a permit counts.
	permits[0].Done()
	permits[0].Done()
	permits[0].Ignore()
	permits[0].Drop()
	if s := l.Stats(); s.Inflight != 2 || s.Ignored != 0 || s.Dropped != 0 || s.Rejected != 1 || s.Admitted != 3 {
		t.Errorf("%+v", s)
	}
	acquire(t, l)
	if _, err := l.Acquire(); err != shed.ErrShed {
		t.Errorf("a permit that ended four times made room more than once: %v", err)
	}
}

// rounds has l work through n rounds of the given number of requests at once.
func rounds(t *testing.T, l *shed.Limiter, n, atOnce int, work func(*shed.Permit)) {
	t.Helper()
	for range n {
		var requests sync.WaitGroup
		for range atOnce {
			if p, err := l.Acquire(); err == nil {
				requests.Go(func() { work(p) })
			}
		}
		requests.Wait()
	}
}

func TestDroppedRequestsLowerTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, shed.Options{Initial: 100})
		rounds(t, l, 100, 20, func(p *shed.Permit) { time.Sleep(10 * ms); p.Done() })
		before := l.Stats()
		// As long as before; but half of them fail, because what lies below sheds them.
		rounds(t, l, 100, 80, func(p *shed.Permit) {
			time.Sleep(10 * ms)
			if rand.IntN(2) == 0 {
				p.Drop()
			} else {
				p.Done()
			}
		})
		if s := l.Stats(); before.Limit != 100 || s.Limit > 50 || s.Dropped == 0 {
			t.Errorf("limit %d, then %d with %d dropped", before.Limit, s.Limit, s.Dropped)
		}
	})
}

func TestIgnoredRequestsSayNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, shed.Options{Initial: 100})
		rounds(t, l, 200, 20, func(p *shed.Permit) {
			if rand.IntN(2) == 0 {
				p.Ignore() // failed at once
				return
			}
			time.Sleep(10 * ms)
			p.Done()
		})
		if s := l.Stats(); s.Baseline < 9*ms || s.Baseline > 11*ms || s.Ignored == 0 {
			t.Errorf("baseline %v of requests that take 10ms or fail at once", s.Baseline)
		}
	})
}

// TestProbeIsGivenUp: the load ends in the middle of a probe, whose low limit must
// not stay.
func TestProbeIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, shed.Options{})
		for round := 0; !l.Stats().Probing; round++ {
			if round > 1000 {
				t.Fatal("no probe")
			}
			rounds(t, l, 1, 30, func(p *shed.Permit) { time.Sleep(10 * ms); p.Done() })
		}
		during := l.Stats().Limit
		time.Sleep(time.Minute)
		acquire(t, l)
		if s := l.Stats(); s.Probing || s.Limit <= during {
			t.Errorf("a minute after the load ended: limit %d, in the probe %d: %+v", s.Limit, during, s)
		}
	})
}

// TestDrainingIsNoWindow: while a probe waits for what is in flight there is no window, whose CPU would be read.
func TestDrainingIsNoWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l *shed.Limiter
		read, probed := 0, 0
		l = limiter(t, shed.Options{Initial: 64, CPU: func() float64 {
			s := l.Stats()
			if read++; s.Probing && s.Inflight > s.Limit {
				t.Errorf("the CPU was read with %d in flight of a probe at %d", s.Inflight, s.Limit)
			}
			probed = max(probed, int(s.Probes))
			return 0
		}})
		workers := make(chan struct{}, 4)
		until := time.Now().Add(time.Minute)
		var clients sync.WaitGroup
		for range 100 {
			clients.Go(func() {
				for time.Now().Before(until) {
					if p, err := l.Acquire(); err == nil {
						workers <- struct{}{}
						time.Sleep(10 * ms)
						<-workers
						p.Done()
					} else {
						time.Sleep(ms)
					}
				}
			})
		}
		clients.Wait()
		if probed < 3 {
			t.Errorf("%d steps of probes in %d windows", probed, read)
		}
	})
}

func TestManyGoroutines(t *testing.T) {
	l := limiter(t, shed.Options{Initial: 8, Max: 16, Window: time.Microsecond, Probe: time.Millisecond})
	var inflight, most int
	var mu sync.Mutex
	var all sync.WaitGroup
	for g := range 32 {
		random := rand.New(rand.NewPCG(5, uint64(g)))
		all.Go(func() {
			for range 500 {
				p, err := l.Acquire()
				if err != nil {
					continue
				}
				mu.Lock()
				inflight++
				most = max(most, inflight)
				mu.Unlock()
				mu.Lock()
				inflight--
				mu.Unlock()
				[]func(){p.Done, p.Ignore, p.Drop}[random.IntN(3)]()
			}
		})
	}
	all.Wait()
	s := l.Stats()
	if s.Inflight != 0 || most > 16 || s.Admitted+s.Rejected != 32*500 || s.Limit < 1 || s.Limit > 16 {
		t.Errorf("%d at once; %+v", most, s)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []shed.Options{
		{Min: -1}, {Max: -1}, {Initial: -1}, {Min: 5, Max: 4}, {Initial: 3, Min: 4},
		{Initial: 9, Max: 8}, {Window: -1}, {Tolerance: -1}, {Probe: -1},
	} {
		if _, err := shed.New(o); err == nil {
			t.Errorf("New(%+v) has no objection", o)
		}
	}
	for _, c := range []struct {
		o    shed.Options
		want int
	}{{shed.Options{}, 20}, {shed.Options{Max: 2}, 2}, {shed.Options{Min: 50}, 50}, {shed.Options{Min: 5000}, 5000}} {
		if l := limiter(t, c.o); l.Stats().Limit != c.want {
			t.Errorf("New(%+v) begins at %d, want %d", c.o, l.Stats().Limit, c.want)
		}
	}
	// The system's own CPU pressure is read where none is given.
	l, err := shed.New(shed.Options{Window: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		acquire(t, l).Done()
	}
	if s := l.Stats(); s.CPU < 0 || s.CPU > 1 || s.Latency == 0 {
		t.Errorf("%+v", s)
	}
}

func TestHandler(t *testing.T) {
	l := limiter(t, shed.Options{Initial: 1, Min: 1, Max: 1})
	entered, release := make(chan struct{}), make(chan struct{})
	h := shed.Handler{
		Limiter: l,
		Exempt:  func(r *http.Request) bool { return r.URL.Path == "/healthz" },
		Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/slow":
				entered <- struct{}{}
				<-release
			case "/panic":
				panic(http.ErrAbortHandler)
			}
		}),
	}
	get := func(h http.Handler, ctx context.Context, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil).WithContext(ctx))
		return w
	}
	ctx := context.Background()
	slow := make(chan int)
	go func() { slow <- get(h, ctx, "/slow").Code }()
	<-entered
	if w := get(h, ctx, "/"); w.Code != 503 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("over the limit: %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	if w := get(h, ctx, "/healthz"); w.Code != 200 {
		t.Errorf("exempt: %d", w.Code)
	}
	custom := h
	custom.Shed = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) })
	if w := get(custom, ctx, "/"); w.Code != 429 {
		t.Errorf("own answer: %d", w.Code)
	}
	close(release)
	if code := <-slow; code != 200 {
		t.Errorf("admitted: %d", code)
	}
	func() {
		defer func() {
			if recover() != http.ErrAbortHandler {
				t.Error("the handler's panic did not come through")
			}
		}()
		get(h, ctx, "/panic")
	}()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	get(h, gone, "/")
	late, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	defer cancel()
	get(h, late, "/")
	if s := l.Stats(); s.Inflight != 0 || s.Admitted != 4 || s.Rejected != 2 || s.Ignored != 2 || s.Dropped != 1 {
		t.Errorf("%+v", s)
	}
}
