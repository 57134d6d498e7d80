package anatomy_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// hold is how long the injected waits last; only lower bounds are asserted.
const hold = 3 * time.Millisecond

// downstream is a service that takes its time. It is not served by net/http,
// whose requests would be in the trace too.
func downstream(t *testing.T) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for r := bufio.NewReader(conn); ; {
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					time.Sleep(hold)
					io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// crowd lets a test hold something until the handlers of all connections are there to
// wait for it, so that contention does not depend on luck.
type crowd struct {
	size    int64
	entered atomic.Int64
}

// gathered returns a while after the crowd's last member came, and all have got as far as they can: on a starved machine a handler that
// has entered may not yet wait.
func (c *crowd) gathered() {
	poll(func() bool { return c.entered.Load() >= c.size && settled() })
	time.Sleep(hold)
}

// poll returns once something is so that nothing announces.
func poll(so func() bool) {
	for !so() {
		time.Sleep(100 * time.Microsecond)
	}
}

// settled reports whether no goroutine but the caller runs or is ready to.
func settled() bool {
	s := []metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()+s[1].Value.Uint64() <= 1
}

// wait is one kind of wait to inject.
type wait struct {
	name    string
	before  func(c *crowd) // called before the load; may be nil
	handler func(c *crowd)
	state   breakdown.State
	site    string // contained in Site
	frame   string // of a function in Stack
	waker   string // of a function in Waker
	least   time.Duration
}

// contended is the least mean of a wait that holds up only the first of the eight
// requests of each connection: hold/8, with room for a busy machine.
const contended = hold / 32

func lockWaits() []wait {
	var mutex sync.Mutex
	var rw sync.RWMutex
	var once sync.Once
	sem := semaphore.NewWeighted(1)
	return []wait{
		{"mutex",
			func(c *crowd) { mutex.Lock(); go func() { c.gathered(); mutex.Unlock() }() },
			func(*crowd) { mutex.Lock(); defer mutex.Unlock() },
			breakdown.StateLock, "waits_test.go:", "sync.(*Mutex).Lock", "sync.(*Mutex).Unlock", contended},
		{"read lock",
			func(c *crowd) { rw.Lock(); go func() { c.gathered(); rw.Unlock() }() },
			func(*crowd) { rw.RLock(); defer rw.RUnlock() },
			breakdown.StateLock, "waits_test.go:", "sync.(*RWMutex).RLock", "sync.(*RWMutex).Unlock", contended},
		{"once", nil,
			func(c *crowd) { once.Do(c.gathered) },
			breakdown.StateSync, "sync.(*Once).", "sync.(*Once).doSlow", "sync.(*Once).doSlow", contended},
		{"semaphore",
			func(c *crowd) { sem.Acquire(context.Background(), 1); go func() { c.gathered(); sem.Release(1) }() },
			func(*crowd) { sem.Acquire(context.Background(), 1); defer sem.Release(1) },
			breakdown.StateSelect, "golang.org/x/sync/semaphore.(*Weighted).Acquire < ",
			"semaphore.(*Weighted).Acquire", "semaphore.(*Weighted).Release", contended},
		{"wait group", nil,
			func(*crowd) {
				var wg sync.WaitGroup
				wg.Go(func() { time.Sleep(hold) })
				wg.Wait()
			},
			breakdown.StateSync, "sync.(*WaitGroup).Wait < ", "sync.(*WaitGroup).Wait", "sync.(*WaitGroup).Done", hold / 2},
	}
}

func channelWaits() []wait {
	queue, selected := make(chan chan int), make(chan int)
	return []wait{
		{"channel",
			func(*crowd) {
				go func() {
					for answer := range queue {
						time.Sleep(hold)
						answer <- 1
					}
				}()
			},
			func(*crowd) { answer := make(chan int); queue <- answer; <-answer },
			breakdown.StateChannel, "waits_test.go:", "runtime.chanrecv1", "channelWaits", hold / 2},
		{"select",
			func(c *crowd) {
				go func() {
					c.gathered()
					for range selected {
					}
				}()
			},
			func(*crowd) {
				select {
				case selected <- 1:
				case <-time.After(time.Minute):
				}
			},
			breakdown.StateSelect, "waits_test.go:", "runtime.selectgo", "channelWaits", contended},
		{"timer", nil,
			func(*crowd) { <-time.After(hold) },
			breakdown.StateChannel, "waits_test.go:", "runtime.chanrecv1", breakdown.WakerTimer, hold / 2},
		{"sleep", nil,
			func(*crowd) { time.Sleep(hold) },
			breakdown.StateSleep, "time.Sleep < ", "time.Sleep", breakdown.WakerTimer, hold / 2},
	}
}

func outsideWaits(t *testing.T) []wait {
	url := downstream(t)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	t.Cleanup(client.CloseIdleConnections)
	file, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return []wait{
		{"downstream", nil,
			func(*crowd) { get(client, url) },
			breakdown.StateSelect, "net/http.(*persistConn).roundTrip < ", "net/http.(*persistConn).roundTrip",
			"net/http.(*persistConn).readLoop", hold / 2},
		{"own connection", nil,
			func(*crowd) {
				conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
				if err != nil {
					return
				}
				defer conn.Close()
				io.WriteString(conn, bare)
				conn.Read(make([]byte, 1))
			},
			breakdown.StateNetwork, "net.(*conn).Read < ", "net.(*conn).Read", "", hold / 2},
		{"file", nil,
			func(*crowd) { file.Write(make([]byte, 1<<20)) },
			breakdown.StateSyscall, "os.(*File).Write < ", "os.(*File).Write", "", time.Microsecond},
		{"collection", nil,
			func(*crowd) { runtime.GC() },
			breakdown.StateSTW, "", "", "", 1},
	}
}

// TestWaits injects one known wait per handler and asserts that the mean request
// spent time in the right state, at the right place, ended by the right waker.
func TestWaits(t *testing.T) {
	for _, test := range slices.Concat(lockWaits(), channelWaits(), outsideWaits(t)) {
		t.Run(test.name, func(t *testing.T) {
			c := &crowd{size: 4}
			if test.name == "once" {
				c.size = 2 // one of them is inside
			}
			v := serve(t, func(w http.ResponseWriter, r *http.Request) {
				c.entered.Add(1)
				test.handler(c)
			}, nil)
			a, lines := v.dissect(v.capture(func() {
				if test.before != nil {
					test.before(c)
				}
				closedLoop(t, 4, 8, func(c *http.Client, i int) error { return get(c, v.url()) })
			}))
			v.matchHandlers(lines)
			checkPart(t, a, test)
		})
	}
}

func checkPart(t *testing.T, a *breakdown.Anatomy, want wait) {
	t.Helper()
	i := slices.IndexFunc(a.All, func(p breakdown.Part) bool {
		return p.State == want.state && strings.Contains(p.Site, want.site) && hasFrame(p.Stack, want.frame)
	})
	if i < 0 {
		t.Fatalf("no part %s at %q with frame %q in\n%s", want.state, want.site, want.frame, render(a))
	}
	p := a.All[i]
	if time.Duration(p.NS) < want.least {
		t.Errorf("%s at %s took %v, want at least %v", p.State, p.Site, time.Duration(p.NS), want.least)
	}
	if !hasFrame(p.Waker, want.waker) {
		t.Errorf("waker %v holds no %q", p.Waker, want.waker)
	}
}

// hasFrame reports whether a function whose name contains part is in a stack;
// the empty part is in every stack.
func hasFrame(stack []code.Frame, part string) bool {
	return part == "" || slices.ContainsFunc(stack, func(f code.Frame) bool { return strings.Contains(f.Function, part) })
}
