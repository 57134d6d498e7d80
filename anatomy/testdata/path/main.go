// Command path makes the traces of package anatomy's tests of the critical path:
// requests over eight connections to a server in its own process, with CPU
// samples in the trace.
//
//	go run -trimpath main.go store ../path-store.trace
//
// Where a request's time goes in each is known, as the functions here say.
package main

import (
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Store is guarded by one goroutine, which looks through all of it for each
// request.
type Store struct {
	items map[string]int
	ops   chan op
}

type op struct {
	key   string
	reply chan int
	done  chan struct{}
}

func newStore(n int) *Store {
	s := &Store{items: map[string]int{}, ops: make(chan op)}
	for i := range n {
		s.items["item-"+strconv.Itoa(i)] = i
	}
	go s.loop()
	return s
}

func (s *Store) loop() {
	for o := range s.ops {
		n := s.checkConsistency()
		if o.done != nil {
			close(o.done)
		} else {
			o.reply <- n
		}
	}
}

// checkConsistency sorts all keys: that is what requests wait for.
func (s *Store) checkConsistency() int {
	keys := make([]string, 0, len(s.items))
	for k := range s.items {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return len(keys)
}

// Get asks the store and waits for its reply.
func (s *Store) Get(key string) int {
	o := op{key: key, reply: make(chan int)}
	s.ops <- o
	return <-o.reply
}

// Touch asks the store and waits until it closes the channel.
func (s *Store) Touch(key string) {
	o := op{key: key, done: make(chan struct{})}
	s.ops <- o
	<-o.done
}

// fanOut does three things at once, of which the slow one decides.
func fanOut() {
	var g errgroup.Group
	for _, leg := range []func(){fast, fast, slow} {
		g.Go(func() error { leg(); return nil })
	}
	g.Wait()
}

func fast() { time.Sleep(time.Millisecond) }
func slow() { time.Sleep(20 * time.Millisecond) }

// Crowd is a queue before three workers, each of which wakes all who wait whenever
// its device has done one job, after 4 ms.
type Crowd struct {
	mu         sync.Mutex
	work, over *sync.Cond
	queue      []*bool
}

func newCrowd() *Crowd {
	c := &Crowd{}
	c.work, c.over = sync.NewCond(&c.mu), sync.NewCond(&c.mu)
	for range 3 {
		jobs, done := make(chan struct{}), make(chan struct{})
		go device(jobs, done)
		go c.worker(jobs, done)
	}
	return c
}

func device(jobs <-chan struct{}, done chan<- struct{}) {
	for range jobs {
		time.Sleep(4 * time.Millisecond)
		done <- struct{}{}
	}
}

func (c *Crowd) worker(jobs chan<- struct{}, done <-chan struct{}) {
	c.mu.Lock()
	for {
		for len(c.queue) == 0 {
			c.work.Wait()
		}
		over := c.queue[0]
		c.queue = c.queue[1:]
		c.mu.Unlock()
		jobs <- struct{}{}
		<-done
		c.mu.Lock()
		*over = true
		c.over.Broadcast()
	}
}

func (c *Crowd) Do() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var over bool
	c.queue = append(c.queue, &over)
	c.work.Signal()
	for !over {
		c.over.Wait()
	}
}

// Ledger has a lock whose holder does next to nothing, but has to wait for a CPU
// in the middle of it.
type Ledger struct {
	mu  sync.Mutex
	sum int
}

func (l *Ledger) Add(n int) {
	l.mu.Lock()
	for range 10 {
		runtime.Gosched()
		l.sum += n
	}
	l.mu.Unlock()
}

// spin keeps the CPUs busy for requests to wait for.
func spin() {
	for x := uint64(1); ; {
		for range 1 << 14 {
			x = x*6364136223846793005 + 1
		}
		if x == 0 {
			return
		}
		runtime.Gosched()
	}
}

// Meter has a lock under which it stops the world for every third request. Another third dumps all goroutines, and the rest
// only computes, and allocates so much that a collection has to wait for the world.
type Meter struct {
	mu    sync.Mutex
	stats runtime.MemStats
	next  atomic.Int64
}

func (m *Meter) Serve() {
	switch m.next.Add(1) % 3 {
	case 0:
		m.read()
	case 1:
		dump()
	default:
		compute()
	}
}

func (m *Meter) read() {
	m.mu.Lock()
	defer m.mu.Unlock()
	runtime.ReadMemStats(&m.stats)
}

func dump() { runtime.Stack(make([]byte, 1<<16), true) }

func compute() {
	x := uint64(1)
	for range 1 << 20 {
		x = x*6364136223846793005 + 1
	}
	computed.Store(x)
	for range 4 {
		buffer.Store(new([1 << 20]byte))
	}
}

var (
	computed atomic.Uint64
	buffer   atomic.Pointer[[1 << 20]byte]
)

func handler(name string) http.HandlerFunc {
	switch name {
	case "store":
		s := newStore(6000)
		return func(w http.ResponseWriter, r *http.Request) { s.Get("item-1") }
	case "closes":
		s := newStore(6000)
		return func(w http.ResponseWriter, r *http.Request) { s.Touch("item-1") }
	case "midway":
		s := newStore(100000)
		return func(w http.ResponseWriter, r *http.Request) { s.Get("item-1") }
	case "fanout":
		return func(w http.ResponseWriter, r *http.Request) { fanOut() }
	case "crowd":
		c := newCrowd()
		return func(w http.ResponseWriter, r *http.Request) { c.Do() }
	case "stops":
		m := &Meter{}
		return func(w http.ResponseWriter, r *http.Request) { m.Serve() }
	case "lock":
		runtime.GOMAXPROCS(2)
		for range 4 {
			go spin()
		}
		l := &Ledger{}
		return func(w http.ResponseWriter, r *http.Request) { l.Add(1) }
	}
	log.Fatalf("no service %q", name)
	return nil
}

func client(url string, n int, done *sync.WaitGroup) {
	defer done.Done()
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	for range n {
		resp, err := c.Get(url)
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func main() {
	out, err := os.Create(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/", handler(os.Args[1]))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, nil)
	if os.Args[1] == "midway" {
		midway(out, "http://"+l.Addr().String())
		return
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		log.Fatal(err)
	}
	if err := trace.Start(out); err != nil {
		log.Fatal(err)
	}
	var done sync.WaitGroup
	for range 8 {
		done.Add(1)
		go client("http://"+l.Addr().String(), 15, &done)
	}
	done.Wait()
	time.Sleep(10 * time.Millisecond) // the last responses' ends
	trace.Stop()
	pprof.StopCPUProfile()
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}

// midway traces half a second out of requests that each take longer: most of them
// wait when the trace begins, and when it ends.
func midway(out *os.File, url string) {
	for range 8 {
		var never sync.WaitGroup
		never.Add(1)
		go client(url, 1000, &never)
	}
	time.Sleep(time.Second)
	if err := trace.Start(out); err != nil {
		log.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	trace.Stop()
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}
