package anatomy_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/probe/request"
	"github.com/redline-go/redline/record/breakdown"
)

// marked does what the probe's middleware does around a handler.
func marked(id string, handle func()) {
	_, end := request.Begin(context.Background(), id)
	defer end()
	handle()
}

// ids returns the ids of requests, sorted.
func ids(lines []breakdown.Timeline) []string {
	var list []string
	for _, l := range lines {
		if l.ID != "" {
			list = append(list, l.ID)
		}
	}
	slices.Sort(list)
	return list
}

func numbered(from, to int) []string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf("id-%03d", i))
	}
	return list
}

// TestMarkersNameRequests marks the second half of the requests to net/http; the slow
// ones among them must be found by their ids.
func TestMarkersNameRequests(t *testing.T) {
	v := serve(t, request.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "7") {
			time.Sleep(hold)
		}
	})).ServeHTTP, nil)
	a, lines := v.dissect(v.capture(func() {
		closedLoop(t, 1, 40, func(c *http.Client, i int) error {
			req, _ := http.NewRequest("GET", fmt.Sprintf("%s/%d", v.url(), i), nil)
			if i >= 20 {
				req.Header.Set(request.Header, fmt.Sprintf("id-%03d", i))
			}
			resp, err := c.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			return err
		})
	}))
	v.matchHandlers(lines)
	if got := ids(lines); a.Requests != 40 || !slices.Equal(got, numbered(20, 40)) || a.Markers.Tasks != 20 {
		t.Errorf("%d requests, %d marked: %q", a.Requests, a.Markers.Tasks, got)
	}
	// A busy host may make others slow, too.
	slower := func(x, y breakdown.Timeline) int { return cmp.Compare(y.Len(), x.Len()) }
	if len(a.Marked) != 20 || !slices.IsSortedFunc(a.Marked, slower) {
		t.Errorf("%d are marked, not the slowest first", len(a.Marked))
	}
	for _, l := range a.Marked {
		if held := l.ID == "id-027" || l.ID == "id-037"; held && l.Len() < hold {
			t.Errorf("%s took %v, and was held for %v", l.ID, l.Len(), hold)
		}
	}
}

// TestMarkersSayWhichRequest sends the ids that the load generator sends with the
// requests of a mix.
func TestMarkersSayWhichRequest(t *testing.T) {
	v := serve(t, request.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP, nil)
	data := v.capture(func() {
		closedLoop(t, 1, 40, func(c *http.Client, i int) error {
			req, _ := http.NewRequest("GET", v.url(), nil)
			// In turn: the first, the second, an id outside any mix, one beyond the mix.
			req.Header.Set(request.Header, fmt.Sprintf("%d%s", i, []string{".1", ".2", "", ".3"}[i%4]))
			resp, err := c.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			return err
		})
	})
	a, err := analyze(bytes.NewReader(data), anatomy.Options{Names: []string{"list", "order"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Named) != 2 || a.Named[0].Requests != 10 || a.Named[1].Requests != 10 || a.Named[0].Name == a.Named[1].Name {
		t.Fatalf("named: %+v", a.Named)
	}
	if got := ids(a.Marked); len(got) == 0 || slices.ContainsFunc(got, func(id string) bool { return strings.HasSuffix(id, ".1") }) {
		t.Errorf("ids %q: want the bare numbers, as in slow.jsonl", got)
	}
}

// TestMarkersTellPipelinedApart marks what nothing else tells apart.
func TestMarkersTellPipelinedApart(t *testing.T) {
	v, l := listen(t)
	n := 0
	s := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
		v.witness.run(func() { marked(fmt.Sprintf("id-%03d", n), func() { time.Sleep(time.Millisecond) }) })
		n++
	}}
	go func() { v.done <- s.Serve(l) }()
	a, lines := v.dissect(v.traced(func() {
		raw(v, 8, strings.Repeat(bare, 8))
		shut(t, s.ShutdownWithContext)
		<-v.done
	}))
	if got := ids(lines); a.Requests != 8 || !slices.Equal(got, numbered(0, 8)) {
		t.Errorf("%d requests: %q", a.Requests, got)
	}
}

// TestMarkersAlone finds the requests of an unknown server; the marks of a handler that
// runs on a goroutine of its own go to its connection's request.
func TestMarkersAlone(t *testing.T) {
	t.Run("unknown server", func(t *testing.T) {
		v, l := listen(t)
		l.Close()
		a, lines := v.dissect(v.traced(func() {
			var wg sync.WaitGroup
			for worker := range 4 {
				wg.Go(func() {
					for i := range 10 {
						v.witness.run(func() {})
						marked(fmt.Sprintf("id-%03d", 10*worker+i), func() { time.Sleep(time.Millisecond) })
					}
				})
			}
			wg.Wait()
		}))
		if got := ids(lines); !slices.Equal(a.Served, []breakdown.Served{{Server: breakdown.ServerMarked, Requests: 40}}) ||
			!slices.Equal(got, numbered(0, 40)) {
			t.Errorf("served %+v: %q", a.Served, got)
		}
	})
	t.Run("time limit", func(t *testing.T) {
		h := http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			marked(r.URL.Path[1:], func() { time.Sleep(time.Millisecond) })
		}), time.Minute, "")
		v := serve(t, h.ServeHTTP, nil)
		a, lines := v.dissect(v.capture(func() {
			closedLoop(t, 1, 10, func(c *http.Client, i int) error { return get(c, fmt.Sprintf("%s/id-%03d", v.url(), i)) })
		}))
		v.matchHandlers(lines)
		if got := ids(lines); a.Requests != 10 || !slices.Equal(got, numbered(0, 10)) {
			t.Errorf("%d requests: %q", a.Requests, got)
		}
	})
}

// burn runs n rounds in one place.
//
//go:noinline
func burn(n int) (x uint64) {
	for i := range n {
		x = x*31 + uint64(i)
	}
	return x
}

// TestSamples takes a CPU profile during the trace: it must show what only slow requests
// run.
func TestSamples(t *testing.T) {
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		x := burn(5e6)
		if r.URL.Path == "/slow" {
			x += slowly()
		}
		fmt.Fprintln(w, x)
	}, nil)
	var profile bytes.Buffer
	a, _ := v.dissect(v.capture(func() {
		if err := pprof.StartCPUProfile(&profile); err != nil {
			t.Skip("another profile is being taken: ", err)
		}
		defer pprof.StopCPUProfile()
		closedLoop(t, 1, 50, func(c *http.Client, i int) error {
			if i == 25 {
				return get(c, v.url()+"/slow")
			}
			return get(c, v.url())
		})
	}))
	if a.CPU == nil || a.CPU.All < a.CPU.Tail || a.CPU.Tail < 20 {
		t.Fatalf("profile %+v", a.CPU)
	}
	slow := 0.0
	for _, f := range a.CPU.Functions {
		if strings.Contains(f.Caller, "slowly") {
			slow += f.Tail
			if f.Median > 0 {
				t.Errorf("ordinary requests run %+v", f)
			}
		}
	}
	if slow < 0.9 {
		t.Errorf("slow requests run slowly for %v of their samples: %+v", slow, a.CPU.Functions)
	}
}

// slowly runs so long that no ordinary request of a busy machine comes near.
//
//go:noinline
func slowly() (x uint64) {
	for i := range int(5e8) {
		x = x*37 + uint64(i)
	}
	return x
}
