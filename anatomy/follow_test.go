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

// chained is a request's wait for other goroutines, and what the anatomy must show them
// doing.
type chained struct {
	name    string
	handler func()
	state   breakdown.State  // of the request's own wait
	links   []breakdown.Link // Goroutine and Site are parts of the real ones
	share   float64          // of the wait, at least, apart from what goroutines waited for a CPU meanwhile
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
			// late, and what it missed of the sleep is not part of its wait.
			go func() { time.Sleep(4 * hold); go func() { query(addr); close(done) }() }()
			<-done
		}, breakdown.StateChannel,
			[]breakdown.Link{{Goroutine: "anatomy_test.chains.func", State: breakdown.StateSleep, Site: nap}}, 0.3},
		{"an HTTP client", func() { get(client, url) }, breakdown.StateSelect,
			[]breakdown.Link{{Goroutine: "net/http.(*persistConn).readLoop", State: breakdown.StateNetwork,
				Site: "net/http.(*persistConn).readLoop"}}, 0.6},
	}
}

// TestChains lets requests wait for goroutines that wait in turn, and asserts that the
// anatomy shows what for.
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
					switch {
					case p.State != test.state:
					case matches(c.Links, test.links):
						behind += c.NS
					case forCPU(c.Links[len(c.Links)-1].State), strings.HasPrefix(c.Links[len(c.Links)-1].Site, "net.Dial"):
						waited -= c.NS // as long as the machine is busy: a connection over loopback waits for nothing but the kernel
					}
				}
			}
			if behind < int64(hold/4) || float64(behind) < test.share*float64(waited) {
				t.Errorf("of %d ns %s, %d lead to %s\n%s", waited, test.state, behind, breakdown.Chain{Links: test.links}, render(a))
			}
		})
	}
}

// forCPU reports whether a goroutine in a state takes as long as it takes to get a CPU.
func forCPU(s breakdown.State) bool {
	switch s {
	case breakdown.StateRunning, breakdown.StateRunnable, breakdown.StateAssist, breakdown.StateSTW:
		return true
	}
	return false
}

func matches(links, want []breakdown.Link) bool {
	return slices.EqualFunc(links, want, func(l, w breakdown.Link) bool {
		return l.State == w.State && l.Request == w.Request && strings.Contains(l.Goroutine, w.Goroutine) &&
			strings.Contains(l.Site, w.Site)
	})
}

func ask(addr string) { query(addr) }

func askAgain(addr string, times int) {
	for range times {
		ask(addr)
	}
}

// TestCallersOfDelegatedWaits: a goroutine that works for a request asks through one function, five
// times from one caller and once from another. Its waits are kept apart by caller, and counted.
func TestCallersOfDelegatedWaits(t *testing.T) {
	url := downstream(t)
	addr := strings.TrimPrefix(url, "http://")
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	t.Cleanup(client.CloseIdleConnections)
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		done := make(chan int)
		go func() { askAgain(addr, 5); ask(addr); get(client, url); get(client, url); done <- 1 }()
		<-done
	}, nil)
	a, lines := v.dissect(v.capture(func() {
		closedLoop(t, 6, 8, func(c *http.Client, i int) error { return get(c, v.url()) })
	}))
	v.matchHandlers(lines)
	again, once, heads, waits := 0.0, 0.0, 0.0, 0.0
	for _, p := range a.All {
		for _, c := range p.Behind {
			l := c.Links[0]
			switch {
			case hasFrame(l.Stack, "net/http.(*persistConn).roundTrip"): // once or twice per call
				waits += l.Times
				if next := c.Links[1]; next.State == breakdown.StateNetwork {
					heads += next.Times
				}
			case l.State != breakdown.StateNetwork || !hasFrame(l.Stack, "net.(*conn).Read"):
			case hasFrame(l.Stack, "anatomy_test.askAgain"):
				again += l.Times
			default:
				once += l.Times
			}
		}
	}
	if again < 4.9 || again > 5.1 || once < 0.9 || once > 1.1 {
		t.Errorf("a request asks %.2f times through askAgain and %.2f times without, want 5 and 1\n%s", again, once, render(a))
	}
	// A piece of each wait is too short for the record, and takes its part of the count with
	// it.
	if heads < 1.8 || heads > 2.2 || waits < 1.8 || waits > 4.2 {
		t.Errorf("two HTTP calls wait %.2f times, %.2f of them for a head\n%s", waits, heads, render(a))
	}
}

// TestCutLinkKeepsItsStack: of a goroutine whose stack fills the trace's, with none of the target's own frames left, it is known what it
// waited in, and that who called is lost.
func TestCutLinkKeepsItsStack(t *testing.T) {
	v := serve(t, func(http.ResponseWriter, *http.Request) {
		read, write := io.Pipe()
		done := make(chan bool)
		go func() {
			var deep io.Reader = read
			for range 150 {
				deep = io.LimitReader(deep, 1)
			}
			deep.Read(make([]byte, 1))
			close(done)
		}()
		go func() { time.Sleep(hold); write.Write([]byte{1}) }()
		<-done
	}, nil)
	a, _ := v.dissect(v.capture(func() {
		closedLoop(t, 1, 8, func(c *http.Client, _ int) error { return get(c, v.url()) })
	}))
	for _, p := range a.All {
		for _, c := range p.Behind {
			l := c.Links[0]
			if len(c.Links) == 2 && c.Links[1].State == breakdown.StateSleep && l.Cut && hasFrame(l.Stack, "io.(*pipe).read") {
				return
			}
		}
	}
	t.Errorf("no wait keeps what is left of its stack\n%s", render(a))
}
