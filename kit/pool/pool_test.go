package pool_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/kit/pool"
)

// conn counts itself while it is open.
type conn struct {
	number int64
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return errors.New("closed twice")
	}
	c.open.Add(-1)
	return nil
}

// server makes conns, or fails.
type server struct {
	dials, open, most atomic.Int64
	down              atomic.Bool
}

var errDown = errors.New("the server is down")

func (s *server) dial(context.Context) (*conn, error) {
	if s.down.Load() {
		s.dials.Add(1)
		return nil, errDown
	}
	now := s.open.Add(1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	return &conn{number: s.dials.Add(1), open: &s.open}, nil
}

func made(t testing.TB, config pool.Config[*conn]) *pool.Pool[*conn] {
	t.Helper()
	p, err := pool.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func get(t testing.TB, p *pool.Pool[*conn]) pool.Lease[*conn] {
	t.Helper()
	lease, err := p.Get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func TestConfigThatCannotWork(t *testing.T) {
	var s server
	for _, config := range []pool.Config[*conn]{
		{},
		{Dial: s.dial, MaxOpen: -1},
		{Dial: s.dial, MaxWait: -1},
		{Dial: s.dial, MaxLifetime: -time.Second},
	} {
		if _, err := pool.New(config); err == nil {
			t.Errorf("%+v passes", config)
		}
	}
}

func TestLastReleasedIsFirstLent(t *testing.T) {
	var s server
	p := made(t, pool.Config[*conn]{Dial: s.dial})
	a, b := get(t, p), get(t, p)
	a.Release()
	b.Release()
	if c := get(t, p); c.Conn != b.Conn {
		t.Errorf("lent number %d, want the last one released, %d", c.Conn.number, b.Conn.number)
	}
	if got := p.Stats(); got.Dialed != 2 || got.Reused != 1 || got.Reuse() != 1.0/3 {
		t.Errorf("%+v, reuse %v", got, got.Reuse())
	}
}

func TestSurplusIsClosed(t *testing.T) {
	for maxIdle, keeps := range map[int]int{1: 1, -1: 0} {
		var s server
		p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: 4, MaxIdle: maxIdle})
		leases := []pool.Lease[*conn]{get(t, p), get(t, p), get(t, p)}
		for _, l := range leases {
			l.Release()
		}
		if got := p.Stats(); got.Open != keeps || int(s.open.Load()) != keeps || int(got.ClosedSurplus) != 3-keeps {
			t.Errorf("MaxIdle %d: %d are open; %+v", maxIdle, s.open.Load(), got)
		}
	}
}

// TestStaleLeaseReleasesNobodyElses: the second Release of a lease comes when its
// connection is on loan to another.
func TestStaleLeaseReleasesNobodyElses(t *testing.T) {
	var s server
	p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: 1})
	stale := get(t, p)
	stale.Release()
	other := get(t, p)
	stale.Release()
	stale.Discard()
	if got := p.Stats(); got.Idle != 0 || other.Conn.closed.Load() {
		t.Errorf("a stale lease gave back another's connection: %+v", got)
	}
	other.Discard()
	other.Release()
	if got := p.Stats(); got.Open != 0 || got.ClosedBroken != 1 || got.CloseErrors != 0 {
		t.Errorf("after Discard: %+v", got)
	}
	var none pool.Lease[*conn]
	none.Release()
}

func TestIdleAndLifetimeLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		p := made(t, pool.Config[*conn]{Dial: s.dial, MaxIdleTime: 8 * time.Second, MaxLifetime: 80 * time.Second})
		a, b := get(t, p), get(t, p)
		b.Release()
		time.Sleep(7 * time.Second)
		if s.open.Load() != 2 {
			t.Fatal("an idle connection was closed before its limit")
		}
		time.Sleep(3 * time.Second)
		if !b.Conn.closed.Load() || a.Conn.closed.Load() {
			t.Error("want the idle connection closed at its limit, and the lent one kept")
		}
		time.Sleep(75 * time.Second)
		if a.Conn.closed.Load() {
			t.Error("a connection was closed under its borrower")
		}
		a.Release()
		if got := p.Stats(); !a.Conn.closed.Load() || got.ClosedLifetime != 1 || got.ClosedIdle != 1 || got.Open != 0 {
			t.Errorf("the released connection outlives its lifetime: %+v", got)
		}
	})
}

// TestLifetimesAreSpread: connections dialled in one moment must not end in one.
func TestLifetimesAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		const all = 100
		p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: all, MaxLifetime: 1000 * time.Second, MaxIdleTime: 8 * time.Hour})
		var leases []pool.Lease[*conn]
		for range all {
			leases = append(leases, get(t, p))
		}
		for _, l := range leases {
			l.Release()
		}
		time.Sleep(799 * time.Second)
		if open := s.open.Load(); open != all {
			t.Fatalf("%d of %d are open before the earliest limit", open, all)
		}
		time.Sleep(80 * time.Second) // the tick is 125 s: at 875 s
		if open := s.open.Load(); open == 0 || open == all {
			t.Errorf("%d of %d are open amid the limits", open, all)
		}
		time.Sleep(250 * time.Second)
		if open := s.open.Load(); open != 0 {
			t.Errorf("%d outlive the last limit", open)
		}
	})
}

func TestCheckOfIdleConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		var sick sync.Map
		p := made(t, pool.Config[*conn]{Dial: s.dial, CheckAfter: 8 * time.Second, Check: func(ctx context.Context, c *conn) error {
			if _, ok := sick.Load(c); ok {
				return errDown
			}
			return nil
		}})
		a, b := get(t, p), get(t, p)
		sick.Store(b.Conn, true)
		a.Release()
		b.Release()
		if c := get(t, p); c.Conn != b.Conn {
			t.Error("a connection that was just released was checked")
		} else {
			c.Release()
		}
		time.Sleep(10 * time.Second)
		c := get(t, p)
		if c.Conn != a.Conn || !b.Conn.closed.Load() {
			t.Errorf("lent number %d; want %d, and the sick one closed", c.Conn.number, a.Conn.number)
		}
		if got := p.Stats(); got.Checks != 2 || got.ClosedUnsound != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// TestCheckThatPanics gives its place back.
func TestCheckThatPanics(t *testing.T) {
	var s server
	p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: 1, CheckAfter: -1, Check: func(context.Context, *conn) error { panic("check") }})
	get(t, p).Release()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = p.Get(context.Background())
	}()
	if got := p.Stats(); got.Open != 0 || s.open.Load() != 0 {
		t.Errorf("the panic leaked a connection: %+v", got)
	}
	get(t, p).Release()
}

func TestUncontendedLoanAllocatesNothing(t *testing.T) {
	var s server
	p := made(t, pool.Config[*conn]{Dial: s.dial, MaxLifetime: time.Hour, Check: func(context.Context,
		*conn) error {
		return nil
	}, CheckAfter: time.Hour})
	get(t, p).Release()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if n := testing.AllocsPerRun(1000, func() {
		lease, err := p.Get(ctx)
		if err != nil {
			t.Fatal(err)
		}
		lease.Release()
	}); n != 0 {
		t.Errorf("Get and Release allocate %v times", n)
	}
}

// TestPlaceIsFreeOnlyAfterClose: until Close returns, the socket is open.
func TestPlaceIsFreeOnlyAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := pool.New(pool.Config[slow]{Dial: func(context.Context) (slow, error) { return slow{}, nil }, MaxOpen: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		first, err := p.Get(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		go first.Discard()
		begun := time.Now()
		second, err := p.Get(context.Background())
		if waited := time.Since(begun); err != nil || waited != time.Second {
			t.Errorf("%v after %v, want the second dial when the first connection is closed", err, waited)
		}
		second.Release()
	})
}

// slow takes a second to close.
type slow struct{}

func (slow) Close() error {
	time.Sleep(time.Second)
	return nil
}

func TestNeverMoreThanMaxOpen(t *testing.T) {
	var s server
	const most = 3
	p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: most, MaxIdle: 2})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 500 {
				lease, err := p.Get(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				if j%3 == 0 {
					runtime.Gosched()
				}
				if (i+j)%5 == 0 {
					lease.Discard()
				}
				lease.Release()
			}
		})
	}
	wg.Wait()
	if got := s.most.Load(); got > most {
		t.Errorf("%d connections were open at once, want at most %d", got, most)
	}
	if err := p.Shutdown(context.Background()); err != nil || s.open.Load() != 0 {
		t.Errorf("%d are open after Shutdown (%v)", s.open.Load(), err)
	}
	if got := p.Stats(); got.CloseErrors != 0 {
		t.Errorf("%d connections were closed twice", got.CloseErrors)
	}
}
