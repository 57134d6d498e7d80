package deadline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/kit/deadline"
)

type key string

func ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

func TestEnds(t *testing.T) {
	for name, wait := range map[string]bool{"waited on": true, "looked at": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				top, cancelTop := deadline.WithTimeout(context.Background(), time.Hour)
				defer cancelTop()
				middle, cancelMiddle := deadline.WithTimeout(top, 2*time.Second)
				defer cancelMiddle()
				leaf, cancelLeaf := deadline.WithTimeout(middle, time.Minute)
				defer cancelLeaf()
				if wait {
					leaf.Done()
				}
				want, _ := middle.Deadline()
				if got, ok := leaf.Deadline(); !ok || got != want {
					t.Errorf("the leaf's limit is %v, want that of the middle, %v", got, want)
				}
				time.Sleep(2*time.Second - 1)
				if leaf.Err() != nil || middle.Err() != nil {
					t.Error("ended before the limit")
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				if leaf.Err() != context.DeadlineExceeded || middle.Err() != context.DeadlineExceeded || top.Err() != nil {
					t.Errorf("at the limit: leaf %v, middle %v, top %v", leaf.Err(), middle.Err(), top.Err())
				}
				if !ended(leaf) || !ended(middle) || ended(top) {
					t.Error("Done disagrees with Err")
				}
				cancelLeaf()
				if leaf.Err() != context.DeadlineExceeded {
					t.Errorf("a later cancel changed the reason to %v", leaf.Err())
				}
			})
		})
	}
}

func TestCancelEndsWhatIsBelow(t *testing.T) {
	root, cancelRoot := deadline.WithTimeout(context.Background(), time.Hour)
	defer cancelRoot()
	a, cancelA := deadline.WithTimeout(root, time.Hour)
	b, cancelB := deadline.WithTimeout(context.WithValue(a, key("k"), "v"), time.Hour)
	defer cancelB()
	sibling, cancelSibling := deadline.WithTimeout(root, time.Hour)
	defer cancelSibling()
	unseen, cancelUnseen := deadline.WithTimeout(b, time.Hour)
	defer cancelUnseen()
	b.Done()
	sibling.Done()
	cancelA()
	cancelA()
	if !ended(b) || b.Err() != context.Canceled || unseen.Err() != context.Canceled || !ended(unseen) {
		t.Errorf("below: %v, %v", b.Err(), unseen.Err())
	}
	if root.Err() != nil || ended(root) || sibling.Err() != nil || ended(sibling) {
		t.Error("above or beside: ended too")
	}
	if b.Value(key("k")) != "v" || a.Value(key("k")) != nil || unseen.Value(key("k")) != "v" {
		t.Error("values do not pass")
	}
}

// TestMixedWithStandardContexts: each kind above and below the other.
func TestMixedWithStandardContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("reason")
		base, cancelBase := context.WithCancelCause(context.Background())
		ours, cancel := deadline.WithTimeout(base, time.Hour)
		defer cancel()
		std, cancelStd := context.WithCancel(ours)
		again, cancelAgain := deadline.WithTimeout(context.WithValue(std, key("k"), 1), time.Hour)
		defer cancelAgain()
		detached, cancelDetached := deadline.WithTimeout(context.WithoutCancel(again), time.Hour)
		defer cancelDetached()
		again.Done()
		cancelStd()
		if again.Err() != context.Canceled {
			t.Error("a standard context in between ended, and ours below goes on")
		}
		synctest.Wait()
		if !ended(again) || ended(ours) {
			t.Error("Done disagrees with Err")
		}
		cancelBase(reason)
		if ours.Err() != context.Canceled || context.Cause(ours) != reason {
			t.Errorf("%v, cause %v; want the base's", ours.Err(), context.Cause(ours))
		}
		synctest.Wait()
		if detached.Err() != nil || ended(detached) {
			t.Error("WithoutCancel did not detach")
		}
	})
}

// TestStandardContextBelow is ended by whoever ends ours, before cancel returns, and
// without a goroutine that waits.
func TestStandardContextBelow(t *testing.T) {
	ours, cancel := deadline.WithTimeout(context.Background(), time.Hour)
	std, cancelStd := context.WithCancel(ours)
	defer cancelStd()
	stopped := make(chan struct{})
	stop := context.AfterFunc(ours, func() { close(stopped) })
	never := context.AfterFunc(ours, func() { t.Error("called though it was stopped") })
	if !never() || never() {
		t.Error("stop does not report what it did")
	}
	cancel()
	if std.Err() != context.Canceled {
		t.Error("the standard context outlives ours")
	}
	<-stopped
	if stop() {
		t.Error("stop reports that it prevented what has happened")
	}
	late := make(chan struct{})
	context.AfterFunc(ours, func() { close(late) })
	<-late
}

// foreign ends by itself, as contexts that merge others do.
type foreign struct {
	context.Context
	done chan struct{}
}

func (f foreign) Done() <-chan struct{} { return f.done }
func (f foreign) Err() error {
	select {
	case <-f.done:
		return context.Canceled
	default:
		return f.Context.Err()
	}
}

// TestForeignContextInBetween must not be skipped though its values reach ours above.
func TestForeignContextInBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		top, cancel := deadline.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		f := foreign{top, make(chan struct{})}
		below, cancelBelow := deadline.WithTimeout(f, time.Hour)
		defer cancelBelow()
		below.Done()
		close(f.done)
		if below.Err() == nil {
			t.Error("the foreign context ended, and ours below goes on")
		}
		synctest.Wait()
		if !ended(below) || ended(top) {
			t.Error("Done disagrees")
		}
	})
}

func TestLimitThatHasPassed(t *testing.T) {
	for _, limit := range []time.Duration{0, -time.Hour} {
		ctx, cancel := deadline.WithTimeout(context.Background(), limit)
		if !ended(ctx) || ctx.Err() != context.DeadlineExceeded {
			t.Errorf("limit %v: %v", limit, ctx.Err())
		}
		cancel()
	}
	parent, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	ctx, cancelCtx := deadline.WithTimeout(parent, time.Hour)
	defer cancelCtx()
	want, _ := parent.Deadline()
	if got, _ := ctx.Deadline(); got != want {
		t.Errorf("the limit is %v, want the parent's %v", got, want)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a nil parent passes")
			}
		}()
		var none context.Context
		_, _ = deadline.WithTimeout(none, time.Second)
	}()
	if s := fmt.Sprint(ctx); !strings.Contains(s, "deadline.WithDeadline") {
		t.Errorf("printed as %q", s)
	}
}

// TestNothingStays: the bubble of the test waits until every goroutine has ended, and a
// context that nobody cancels lets go at its limit.
func TestNothingStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, cancelBase := context.WithCancel(context.Background())
		defer cancelBase()
		top, _ := deadline.WithTimeout(base, time.Minute)
		leaf, _ := deadline.WithTimeout(top, time.Second)
		<-leaf.Done()
		if top.Err() != nil {
			t.Error("the limit of the leaf ended the top")
		}
		<-top.Done()
	})
}

// TestConcurrentUse lets goroutines wait, look, nest and cancel in one chain. Whatever
// the order: whoever sees an error sees Done closed, and all hear of the end.
func TestConcurrentUse(t *testing.T) {
	for range 200 {
		base, cancelBase := context.WithCancel(context.Background())
		defer cancelBase()
		top, cancelTop := deadline.WithTimeout(base, time.Hour)
		middle, cancelMiddle := deadline.WithTimeout(top, time.Hour)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				leaf, cancel := deadline.WithTimeout(middle, time.Hour)
				defer cancel()
				switch i {
				case 0:
					cancelMiddle()
				case 1:
					cancelTop()
				case 2:
					cancelBase()
				case 3:
					std, cancelStd := context.WithCancel(leaf)
					defer cancelStd()
					<-std.Done()
				default:
					if leaf.Err() != nil && !ended(leaf) {
						t.Error("Err reports the end, and Done is open")
					}
				}
				<-middle.Done()
				<-leaf.Done()
				if leaf.Err() == nil {
					t.Error("Done is closed, and Err reports nothing")
				}
			})
		}
		wg.Wait()
	}
}
