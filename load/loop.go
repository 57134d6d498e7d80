package load

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/load/account"
	"github.com/redline-go/redline/load/pace"
	"github.com/redline-go/redline/load/socket"
	"github.com/redline-go/redline/scenario/feeder"
)

// readBuffer is the most bytes of one read. All connections of a loop share it.
const readBuffer = 64 << 10

// loop drives its share of the run's lanes from one thread: it waits for
// sockets and due times at once, and does whatever either asks for.
//
// Everything that an event leads to is done before the next event is handled, and its
// output to one connection goes out in one write: if many streams are answered
// together, their next requests leave together.
type loop struct {
	*account.Feed
	run    *run
	index  int
	poll   *socket.Poller
	groups []group
	lanes  []lane  // of all groups
	links  []*link // of all groups, and those that drain or did
	spares []*link // that have drained

	arrivals pace.Arrivals // of an open loop
	idle     []*lane       // free lanes of an open loop; the one that was free last is last
	ready    []*lane       // lanes whose next request is to begin now
	alarms   alarms        // lanes whose next request begins later
	dialing  dials         // connections that wait for the connect rate
	early    early         // how long before a due time to wake
	scan     time.Duration // when lanes are next checked for timeouts
	silent   time.Duration // when links are next checked for silent addresses; zero is never

	in      []byte        // read buffer
	ahead   []byte        // read buffer below TLS
	out     []byte        // bytes for current, not yet written
	leaving []*lane       // whose requests are in out
	ends    []*Exchange   // of one Receive
	sent    []*Exchange   // of one Drained
	hops    []hop         // requests that go out again now
	freed   time.Duration // when the last lane became idle, while tickets may wait for it; else zero
	behind  int           // tickets in the lanes' own queues
	// unread are links that had their turn of reading and may have more.
	unread, spareUnread []unread
	// current is the link that out is for.
	current *link
	sampler sampler
	traced  []bool // by request: it may carry a Trace

	under     int // requests begun and not ended
	counted   account.Tally
	published account.Tally

	stopped atomic.Bool // by stop
	mu      sync.Mutex
	inbox   []func() // from other goroutines
	apart   sync.WaitGroup
	ctx     context.Context // of the loop's goroutines
	end     context.CancelFunc
}

// newLoop makes loop index of loops, with every loops-th group of the run.
func newLoop(r *run, index, loops int) (*loop, error) {
	// A poller of its own: events of one loop never wake another's thread.
	poll, err := socket.NewPoller()
	if err != nil {
		return nil, err
	}
	l := &loop{Feed: account.NewFeed(), run: r, index: index, poll: poll, in: make([]byte, readBuffer)}
	l.ctx, l.end = context.WithCancel(context.Background())
	streams, hosts := r.streams, len(r.hosts)
	groups := (r.connections - index + loops - 1) / loops
	// A few arrays in all, laid out before the load: nothing is allocated per connection while
	// it runs, and neighbours in time are neighbours in memory.
	l.groups = make([]group, groups)
	l.lanes = make([]lane, groups*streams)
	links := make([]link, groups*hosts)
	l.links = make([]*link, groups*hosts)
	for i := range links {
		l.links[i] = &links[i]
	}
	current := slices.Clone(l.links)
	for g := range l.groups {
		at := &l.groups[g]
		at.lanes, at.links = l.lanes[g*streams:(g+1)*streams:(g+1)*streams], current[g*hosts:(g+1)*hosts:(g+1)*hosts]
		// Connections are numbered like tickets, so that with a rate per connection a ticket
		// finds its connection's loop by a modulo.
		id := g*loops + index
		for h := range at.links {
			*at.links[h] = link{index: int32(g*hosts + h), host: h, id: id, group: at, fd: -1}
		}
		for s := range at.lanes {
			u := &at.lanes[s]
			u.id, u.group, u.x.Slot = id*streams+s, at, s
			// Seeded by the lane's number: lanes differ, and each repeats from run to run,
			// whatever the order of answers.
			u.rng.Seed(uint64(u.id), 0x6c6f6164)
		}
	}
	var any bool
	if l.traced, any = r.tracing(); any {
		l.sampler = newSampler(r.Config.Trace, index, loops, r.seed)
	}
	if rate := r.plan.ConnectRate; rate > 0 {
		l.dialing.gap = time.Duration(float64(time.Second) * float64(loops) / rate)
	}
	if r.plan.Open() {
		l.arrivals = pace.NewArrivals(r.plan, &r.pace, index, loops, r.seed)
	}
	return l, nil
}

// drive runs the loop until its load is over or stop is called, and closes its
// connections.
func (l *loop) drive() error {
	runtime.LockOSThread() // and never unlocked: the thread's settings end with it
	// The kernel delays timers by 50 us to batch them (timerslack, prctl(2)); that would be lag.
	socket.Precise()
	l.Thread.Store(int64(socket.Thread()))
	if l.run.plan.Open() {
		l.early.measure(l.poll)
	}
	defer l.shutdown()
	l.start()
	for !l.stopped.Load() {
		// Timeouts first: a lane that is given up is free for a ticket that is due now.
		l.follow()
		now := l.now()
		l.goPast(now)
		l.expire(now)
		for k := l.dialing.due(now); k != nil; k = l.dialing.due(now) {
			l.dial(k, now)
		}
		for u := l.alarms.due(now); u != nil; u = l.alarms.due(now) {
			l.woken(u)
		}
		l.readOn()
		l.handOut(now)
		l.work()
		l.flush()
		if l.over() {
			break
		}
		l.Publish(&l.counted, &l.published)
		// Published before the wait, which may be long, so that the reporter sees what was done.
		n, err := l.wait()
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
		for i := range n {
			l.handle(l.poll.Event(i))
			l.work()
			// Not together with the next event's output: the time of sending is taken before.
			l.flush()
		}
	}
	return nil
}

func (l *loop) now() time.Duration { return l.run.clock.Now() }

// start gives every lane its first request, or lists it as free.
func (l *loop) start() {
	// No request can time out before one timeout has passed.
	l.scan = l.now() + l.run.plan.Timeout
	for i := range l.lanes {
		u := &l.lanes[i]
		switch {
		case l.run.plan.PerConnection > 0:
		case l.run.plan.Open():
			// The first lane is used first: it is the last of the list.
			l.idle = append(l.idle, &l.lanes[len(l.lanes)-1-i])
		default:
			l.schedule(u, l.run.start)
		}
	}
	if l.run.plan.PerConnection > 0 {
		for i := range l.links {
			// With a rate per connection, connections are open from the start.
			l.open(l.links[i])
		}
	}
}

// over reports whether nothing is in progress and nothing will be due.
func (l *loop) over() bool {
	if l.under > 0 || len(l.ready) > 0 || len(l.alarms) > 0 {
		return false
	}
	if !l.run.plan.Open() {
		return true
	}
	_, _, more := l.arrivals.Peek()
	return !more
}

// next returns when the loop has something to do that no event announces: zero for now, negative for
// never. It is exact where a request is due then, whose latency counts from it.
func (l *loop) next() (at time.Duration, exact bool) {
	// Work that no event announces: the poller is only asked what else there is.
	if len(l.ready) > 0 || l.freed > 0 || len(l.unread) > 0 || len(l.hops) > 0 {
		return 0, false
	}
	at = -1
	sooner := func(t time.Duration, due bool) {
		if at < 0 || t < at {
			at, exact = max(0, t), due
		}
	}
	if len(l.alarms) > 0 {
		sooner(l.alarms[0].wake, true)
	}
	if t, ok := l.dialing.wake(); ok {
		sooner(t, false)
	}
	if l.under > 0 {
		sooner(l.scan, false)
	}
	if l.silent > 0 {
		sooner(l.silent, false)
	}
	// If every lane is busy, due tickets wait for an answer, and waking for them would spin.
	if l.run.plan.Open() && (len(l.idle) > 0 || l.run.plan.PerConnection > 0 && l.behind < mostBehind) {
		if _, t, ok := l.arrivals.Peek(); ok {
			sooner(l.run.start+t, true)
		}
	}
	return at, exact
}

// stop ends the loop from any goroutine, whatever is in progress.
func (l *loop) stop() {
	l.stopped.Store(true)
	l.poll.Wake()
}

// post has the loop run f. Calls after its end are dropped.
func (l *loop) post(f func()) {
	l.mu.Lock()
	l.inbox = append(l.inbox, f)
	l.mu.Unlock()
	l.poll.Wake()
}

// handle handles one event.
func (l *loop) handle(e socket.Event) {
	if e.Token.Index < 0 {
		// Removed before they run: what they post waits for the next wake-up.
		l.mu.Lock()
		posted := l.inbox
		l.inbox = nil
		l.mu.Unlock()
		for _, f := range posted {
			f()
		}
		return
	}
	// Events of a batch are older than what was done for those before them: a descriptor may
	// have been closed since, and opened again for another link.
	k := l.links[e.Token.Index]
	if k.generation != e.Token.Generation {
		return // of a socket that is closed
	}
	if k.state == linkConnecting && e.Writable {
		l.connected(k) // and it may have spoken first
	}
	if k.state != linkOpen {
		return
	}
	if e.Writable && k.writing {
		l.writable(k)
	}
	if e.Readable && k.state == linkOpen {
		l.readable(k, e.Over)
	}
}

// shutdown closes every connection and waits for the loop's goroutines. Requests in
// progress keep their lanes, for the count of the unfinished.
func (l *loop) shutdown() {
	// Before they close: what was open at the end is a figure of the load.
	l.Publish(&l.counted, &l.published) // connections as the load left them
	l.end()
	for i := range l.links {
		l.close(l.links[i])
	}
	l.apart.Wait()
}

// cursor returns the rows of a lane's templates; nil when the plan takes no
// data.
func (l *loop) cursor(u *lane) *feeder.Cursor {
	if u.x.Data == nil && l.run.data {
		return l.run.Plan.NewCursor(uint64(u.id))
	}
	return u.x.Data
}
