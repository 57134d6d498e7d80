package anatomy_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/redline-go/redline/record/breakdown"
)

// chained is a wait for other goroutines, and what they must be seen to do.
type chained struct {
	name    string
	handler func()
	state   breakdown.State  // of the request's own wait
	links   []breakdown.Link // Goroutine and Site are parts of the real ones
	share   float64          // of the wait, at least
}

// pool starts workers that take jobs through an unbuffered channel.
func pool(t *testing.T, n int, work func()) (submit func()) {
	jobs := make(chan chan int)
	t.Cleanup(func() { close(jobs) })
	for range n {
		go worker(jobs, work)
	}
	return func() { done := make(chan int); jobs <- done; <-done }
}

func worker(jobs chan chan int, work func()) {
	for done := range jobs {
		work()
		done <- 1
	}
}

// query asks the downstream service as a database driver does.
func query(addr string) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer conn.Close()
	io.WriteString(conn, bare)
	conn.Read(make([]byte, 1))
}

func chains(t *testing.T) []chained {
	url := downstream(t)
	addr := strings.TrimPrefix(url, "http://")
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	t.Cleanup(client.CloseIdleConnections)
	var mutex, outer sync.Mutex
	inner := pool(t, 1, func() { query(addr) })
	const nap, asked, locked = "time.Sleep < ", "net.(*conn).Read < ", "anatomy_test.chains.func"
	return []chained{
		{"workers that sleep", pool(t, 2, func() { time.Sleep(hold) }), breakdown.StateChannel,
			[]breakdown.Link{{Goroutine: "anatomy_test.worker", State: breakdown.StateSleep, Site: nap}}, 0.8},
		{"workers that query", pool(t, 2, func() { query(addr) }), breakdown.StateChannel,
			[]breakdown.Link{{Goroutine: "anatomy_test.worker", State: breakdown.StateNetwork, Site: asked}}, 0.6},
		{"workers that lock", pool(t, 4, func() { mutex.Lock(); query(addr); mutex.Unlock() }), breakdown.StateChannel,
			[]breakdown.Link{
				{Goroutine: "anatomy_test.worker", State: breakdown.StateLock, Site: locked},
				{Goroutine: "anatomy_test.worker", State: breakdown.StateNetwork, Site: asked}}, 0.3},
		{"a queue for a lock", func() { outer.Lock(); query(addr); outer.Unlock() }, breakdown.StateLock,
			[]breakdown.Link{{Goroutine: "net/http.(*conn).serve", Request: true, State: breakdown.StateNetwork, Site: asked}}, 0.6},
		{"workers behind workers", pool(t, 2, func() { inner() }), breakdown.StateChannel,
			[]breakdown.Link{
				{Goroutine: "anatomy_test.worker", State: breakdown.StateChannel, Site: "anatomy_test.pool.func"},
				{Goroutine: "anatomy_test.worker", State: breakdown.StateNetwork, Site: asked}}, 0.3},
		{"an error group", func() {
			g, _ := errgroup.WithContext(context.Background())
			g.Go(func() error { return nil })
			g.Go(func() error { query(addr); return nil })
			g.Wait()
		}, breakdown.StateSync,
			[]breakdown.Link{{Goroutine: "anatomy_test.chains.func", State: breakdown.StateNetwork, Site: asked}}, 0.6},
		{"started late", func() {
			done := make(chan int)
			// Longer than the query: on a busy machine the request may begin to wait
			// late, and what it missed of the sleep is no wait of its own.
			go func() { time.Sleep(4 * hold); go func() { query(addr); close(done) }() }()
			<-done
		}, breakdown.StateChannel,
			[]breakdown.Link{{Goroutine: "anatomy_test.chains.func", State: breakdown.StateSleep, Site: nap}}, 0.3},
		{"an HTTP client", func() { get(client, url) }, breakdown.StateSelect,
			[]breakdown.Link{{Goroutine: "net/http.(*persistConn).readLoop", State: breakdown.StateNetwork,
				Site: "net/http.(*persistConn).readLoop"}}, 0.6},
	}
}

// TestChains lets requests wait for goroutines that wait in turn, and asserts
// that the anatomy tells what for.
func TestChains(t *testing.T) {
	for _, test := range chains(t) {
		t.Run(test.name, func(t *testing.T) {
			v := serve(t, func(w http.ResponseWriter, r *http.Request) { test.handler() }, nil)
			a, lines := v.dissect(v.capture(func() {
				closedLoop(t, 6, 8, func(c *http.Client, i int) error { return get(c, v.url()) })
			}))
			v.matchHandlers(lines)
			var waited, behind int64
			for _, p := range a.All {
				if p.State == test.state && !hasFrame(p.Stack, "(*witness).run.func1") {
					waited += p.NS
				}
				for _, c := range p.Behind {
					if p.State == test.state && matches(c.Links, test.links) {
						behind += c.NS
					}
				}
			}
			if waited < int64(hold/4) || float64(behind) < test.share*float64(waited) {
				t.Errorf("of %d ns %s, %d lead to %s\n%s", waited, test.state, behind, breakdown.Chain{Links: test.links}, render(a))
			}
		})
	}
}

func matches(links, want []breakdown.Link) bool {
	return slices.EqualFunc(links, want, func(l, w breakdown.Link) bool {
		return l.State == w.State && l.Request == w.Request && strings.Contains(l.Goroutine, w.Goroutine) &&
			strings.Contains(l.Site, w.Site)
	})
}
