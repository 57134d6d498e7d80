package pool_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/kit/pool"
)

func TestWaitersAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: 1})
		first := get(t, p)
		var order []int
		for i := range 20 {
			go func() {
				lease := get(t, p)
				order = append(order, i) // the one connection is the lock
				lease.Release()
			}()
			synctest.Wait()
		}
		first.Release()
		synctest.Wait()
		if len(order) != 20 || !slices.IsSorted(order) {
			t.Errorf("served in the order %v", order)
		}
	})
}

func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: 1, MaxWait: time.Second})
		held := get(t, p)
		begun := time.Now()
		if _, err := p.Get(context.Background()); !errors.Is(err, pool.ErrMaxWait) || time.Since(begun) != time.Second {
			t.Errorf("%v after %v, want ErrMaxWait after 1s", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
		defer cancel()
		if _, err := p.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the context's error", err)
		}
		if _, err := p.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the error of the context that has ended", err)
		}
		// Who gave up must not be given anything.
		held.Release()
		if got := p.Stats(); got.Idle != 1 || got.Waiting != 0 || got.GaveUp != 2 || got.WaitTime != 1500*time.Millisecond {
			t.Errorf("%+v", got)
		}
	})
}

// TestGrantToOneWhoLeaves: the connection comes at the moment when its waiter gives up,
// and must go back.
func TestGrantToOneWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: 1})
		for range 500 {
			held := get(t, p)
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				if lease, err := p.Get(ctx); err == nil {
					lease.Release()
				}
			}()
			synctest.Wait()
			cancel() // the waiter is awake, and has yet to leave the queue
			held.Release()
			synctest.Wait()
			if got := p.Stats(); got.Idle != 1 {
				t.Fatalf("the connection is lost: %+v", got)
			}
		}
	})
}

// TestDialOutlivesItsCaller: a dial that takes longer than each caller waits must end in
// a connection all the same, or nobody ever gets one.
func TestDialOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		p := made(t, pool.Config[*conn]{MaxWait: time.Second, Dial: func(ctx context.Context) (*conn, error) {
			select {
			case <-time.After(5 * time.Second):
				return s.dial(ctx)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}})
		for range 5 {
			if _, err := p.Get(context.Background()); !errors.Is(err, pool.ErrMaxWait) {
				t.Fatal(err)
			}
		}
		get(t, p).Release()
		if s.dials.Load() != 1 {
			t.Errorf("%d dials for callers who waited one after the other", s.dials.Load())
		}
	})
}

// TestReleasedConnectionBeatsTheDial: a waiter takes what comes first.
func TestReleasedConnectionBeatsTheDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		slow := false
		p := made(t, pool.Config[*conn]{MaxOpen: 2, Dial: func(ctx context.Context) (*conn, error) {
			if slow {
				time.Sleep(time.Minute)
			}
			return s.dial(ctx)
		}})
		a := get(t, p)
		slow = true
		go func() {
			time.Sleep(time.Second)
			a.Release()
		}()
		begun := time.Now()
		b := get(t, p)
		if b.Conn != a.Conn || time.Since(begun) != time.Second {
			t.Errorf("waited %v for number %d", time.Since(begun), b.Conn.number)
		}
		b.Release()
		time.Sleep(2 * time.Minute)
		if got := p.Stats(); got.Idle != 2 {
			t.Errorf("the dialled connection is lost: %+v", got)
		}
	})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		s.down.Store(true)
		p := made(t, pool.Config[*conn]{Dial: s.dial, BreakAfter: 3, Cooldown: 10 * time.Second})
		for i := range 3 {
			if _, err := p.Get(context.Background()); !errors.Is(err, errDown) || errors.Is(err, pool.ErrBreaker) {
				t.Fatalf("dial %d: %v", i, err)
			}
		}
		for range 5 {
			if _, err := p.Get(context.Background()); !errors.Is(err, pool.ErrBreaker) || !errors.Is(err, errDown) {
				t.Fatalf("%v, want ErrBreaker with its cause", err)
			}
		}
		if got := s.dials.Load(); got != 3 {
			t.Fatalf("%d dials while broken", got-3)
		}
		time.Sleep(10 * time.Second)
		for range 2 { // one try, and broken again
			if _, err := p.Get(context.Background()); !errors.Is(err, errDown) {
				t.Fatal(err)
			}
		}
		if got := s.dials.Load(); got != 4 {
			t.Fatalf("%d dials after the cooldown, want one", got-3)
		}
		time.Sleep(10 * time.Second)
		s.down.Store(false)
		get(t, p).Release()
		if got := p.Stats(); got.Breaks != 2 || got.Refused != 6 {
			t.Errorf("%+v", got)
		}
	})
}

// TestBreakerTriesOneDial: after the cooldown many want a connection, and one dial is
// tried; as it succeeds the others follow.
func TestBreakerTriesOneDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		s.down.Store(true)
		p := made(t, pool.Config[*conn]{BreakAfter: 1, Cooldown: time.Second, MaxOpen: 10, Dial: func(ctx context.Context) (*conn, error) {
			time.Sleep(time.Second)
			return s.dial(ctx)
		}})
		if _, err := p.Get(context.Background()); !errors.Is(err, errDown) {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		s.down.Store(false)
		leases := make(chan pool.Lease[*conn], 10)
		for range 10 {
			go func() { leases <- get(t, p) }()
			synctest.Wait()
		}
		if got := p.Stats().Open; got != 1 {
			t.Errorf("%d dials are tried at once", got)
		}
		time.Sleep(3 * time.Second)
		if len(leases) != 10 {
			t.Errorf("%d of 10 got a connection after the probe", len(leases))
		}
	})
}

// TestBrokenDialingLeavesTheOpenOnes: while connections are open, callers wait for these
// though none can be dialled; when the last is gone they hear at once.
func TestBrokenDialingLeavesTheOpenOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: 4, BreakAfter: 1, Cooldown: time.Hour})
		held := get(t, p)
		s.down.Store(true)
		if _, err := p.Get(context.Background()); !errors.Is(err, errDown) {
			t.Fatal(err)
		}
		got := make(chan error, 2)
		for range 2 {
			go func() {
				lease, err := p.Get(context.Background())
				if err == nil {
					lease.Discard()
				}
				got <- err
			}()
		}
		synctest.Wait()
		if p.Stats().Waiting != 2 {
			t.Fatal("callers do not wait for the open connection")
		}
		held.Release()
		if err := <-got; err != nil {
			t.Error(err)
		}
		if err := <-got; !errors.Is(err, pool.ErrBreaker) {
			t.Errorf("%v, want ErrBreaker when nothing is left to wait for", err)
		}
	})
}

// TestCooldownWakesThoseWhoWait: nobody else need come for the dial after the cooldown.
func TestCooldownWakesThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: 4, BreakAfter: 1, Cooldown: time.Minute})
		held := get(t, p)
		defer held.Release()
		s.down.Store(true)
		if _, err := p.Get(context.Background()); !errors.Is(err, errDown) {
			t.Fatal(err)
		}
		s.down.Store(false)
		begun := time.Now()
		get(t, p).Release()
		if waited := time.Since(begun); waited != time.Minute {
			t.Errorf("waited %v", waited)
		}
	})
}

// TestDialThatMisbehaves costs an error, and neither the process nor a place.
func TestDialThatMisbehaves(t *testing.T) {
	for name, dial := range map[string]func(context.Context) (*conn, error){
		"panic":  func(context.Context) (*conn, error) { panic("dial") },
		"goexit": func(context.Context) (*conn, error) { runtime.Goexit(); return nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			p := made(t, pool.Config[*conn]{Dial: dial, MaxOpen: 1, BreakAfter: -1})
			for range 3 {
				if _, err := p.Get(context.Background()); err == nil {
					t.Fatal("no error")
				}
			}
			if err := p.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

type closer interface{ Close() error }

func TestDialOfNothing(t *testing.T) {
	p, err := pool.New(pool.Config[closer]{Dial: func(context.Context) (closer, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Get(context.Background()); err == nil {
		t.Error("a nil connection was lent")
	}
}

func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		p := made(t, pool.Config[*conn]{Dial: s.dial, MaxOpen: 2})
		a, b := get(t, p), get(t, p)
		b.Release()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v while one is on loan", err)
		}
		if !b.Conn.closed.Load() || a.Conn.closed.Load() {
			t.Error("want the idle connection closed, and the lent one left to its borrower")
		}
		if _, err := p.Get(context.Background()); !errors.Is(err, pool.ErrClosed) {
			t.Error(err)
		}
		go func() {
			time.Sleep(time.Second)
			a.Release()
		}()
		if err := p.Shutdown(context.Background()); err != nil || !a.Conn.closed.Load() {
			t.Errorf("%v, closed %v", err, a.Conn.closed.Load())
		}
	})
}

// TestCloseFailsThoseWhoWait, ends the dial in progress, and closes what it yields all the
// same.
func TestCloseFailsThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s server
		p := made(t, pool.Config[*conn]{Dial: func(ctx context.Context) (*conn, error) {
			<-ctx.Done()
			return s.dial(ctx) // it was open a moment before
		}})
		failed := make(chan error, 1)
		go func() {
			_, err := p.Get(context.Background())
			failed <- err
		}()
		synctest.Wait()
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-failed; !errors.Is(err, pool.ErrClosed) {
			t.Error(err)
		}
		if s.dials.Load() != 1 || s.open.Load() != 0 {
			t.Errorf("%d dialled, %d open", s.dials.Load(), s.open.Load())
		}
	})
}
