package anatomy_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/redline-go/redline/record"
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

var garbage [][]byte

// TestWaits injects one known wait per handler and asserts that the mean request
// spent at least that long in the right state, at the right place, ended by the
// right waker.
func TestWaits(t *testing.T) {
	var mutex sync.Mutex
	var rw sync.RWMutex
	var once sync.Once
	ask, answer := make(chan int), make(chan int)
	go func() {
		for range ask {
			time.Sleep(hold)
			answer <- 1
		}
	}()
	defer close(ask)
	sem := semaphore.NewWeighted(1)
	next := downstream(t)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	file, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()

	tests := []struct {
		name    string
		handler func()
		state   record.ReqState
		site    string // contained in Site
		frame   string // a function of Stack
		waker   string // a function of Waker, or empty
		least   time.Duration
	}{
		{"sleep", func() { time.Sleep(hold) }, record.StateSleep, "time.Sleep < ", "time.Sleep", record.WakerTimer, hold},
		{"mutex", func() { mutex.Lock(); time.Sleep(hold); mutex.Unlock() }, record.StateLock, "waits_test.go:", "sync.(*Mutex).Lock", "sync.(*Mutex).Unlock", hold / 2},
		{"rwmutex", func() { rw.Lock(); time.Sleep(hold); rw.Unlock() }, record.StateLock, "waits_test.go:", "sync.(*RWMutex).Lock", "", hold / 2},
		{"channel", func() { ask <- 1; <-answer }, record.StateChannel, "waits_test.go:", "runtime.chanrecv1", "TestWaits", hold / 2},
		{"select", func() {
			select {
			case ask <- 1:
				<-answer
			case <-time.After(time.Minute):
			}
		}, record.StateSelect, "waits_test.go:", "runtime.selectgo", "TestWaits", hold / 4},
		{"timer", func() { <-time.After(hold) }, record.StateChannel, "waits_test.go:", "runtime.chanrecv1", record.WakerTimer, hold},
		{"semaphore", func() {
			sem.Acquire(context.Background(), 1)
			time.Sleep(hold)
			sem.Release(1)
		}, record.StateSelect, "golang.org/x/sync/semaphore.(*Weighted).Acquire < ", "golang.org/x/sync/semaphore.(*Weighted).Acquire", "semaphore.(*Weighted).Release", hold / 2},
		{"waitgroup", func() {
			var wg sync.WaitGroup
			wg.Go(func() { time.Sleep(hold) })
			wg.Wait()
		}, record.StateSync, "sync.(*WaitGroup).Wait < ", "sync.(*WaitGroup).Wait", "sync.(*WaitGroup).Done", hold / 2},
		{"once", func() { once.Do(func() { time.Sleep(20 * hold) }) }, record.StateSync, "sync.(*Once).", "sync.(*Once).doSlow", "", hold / 4},
		{"downstream", func() { get(client, next) }, record.StateSelect, "net/http.(*persistConn).roundTrip < ", "net/http.(*persistConn).roundTrip", "net/http.(*persistConn).readLoop", hold},
		{"file", func() { file.Write(make([]byte, 1<<20)); file.Sync() }, record.StateSyscall, "os.(*File).", "", "", time.Microsecond},
		{"collector", func() {
			for range 200 {
				garbage = append(garbage[:min(len(garbage), 2000)], make([]byte, 16<<10))
			}
			runtime.GC()
		}, record.StateOther, "", "runtime.GC", "", time.Microsecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var one sync.Mutex
			v := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if test.name == "collector" {
					one.Lock()
					defer one.Unlock()
				}
				test.handler()
			}, nil)
			a, lines := v.dissect(v.capture(func() {
				closedLoop(t, 4, 8, func(c *http.Client, i int) error { return get(c, v.url()) })
			}))
			v.matchHandlers(lines[:len(lines):len(lines)])
			i := slices.IndexFunc(a.All, func(p record.Part) bool {
				return p.State == test.state && strings.Contains(p.Site, test.site) && hasFrame(p.Stack, test.frame)
			})
			if i < 0 {
				for _, p := range a.All {
					t.Logf("%-12s %8d ns x%.2f %s", p.State, p.NS, p.Times, p.Site)
				}
				t.Fatalf("no part %s at %q with frame %q", test.state, test.site, test.frame)
			}
			p := a.All[i]
			if time.Duration(p.NS) < test.least {
				t.Errorf("%s at %s took %v, want at least %v", p.State, p.Site, time.Duration(p.NS), test.least)
			}
			if !hasFrame(p.Waker, test.waker) {
				t.Errorf("waker %v holds no %q", p.Waker, test.waker)
			}
		})
	}
}

// hasFrame reports whether a function whose name contains part is in a stack;
// the empty part is in every stack.
func hasFrame(stack []record.Frame, part string) bool {
	return part == "" || slices.ContainsFunc(stack, func(f record.Frame) bool { return strings.Contains(f.Function, part) })
}
