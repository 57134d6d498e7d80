package batch_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/kit/batch"
)

type item = batch.Item[int, string]

func made(t testing.TB, config batch.Config[int, string]) *batch.Writer[int, string] {
	t.Helper()
	w, err := batch.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// sizes records the size of each group.
type sizes struct {
	mu  sync.Mutex
	all []int
}

func (s *sizes) flush(_ context.Context, items []*item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, len(items))
	return nil
}

func (s *sizes) want(t *testing.T, sizes ...int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.all, sizes) {
		t.Errorf("groups of %v, want %v", s.all, sizes)
	}
}

func TestConfigThatCannotWork(t *testing.T) {
	flush := func(context.Context, []*item) error { return nil }
	for _, config := range []batch.Config[int, string]{{}, {Flush: flush, MaxSize: -1},
		{Flush: flush, MaxDelay: -1}, {Flush: flush, Queue: -1}} {
		if _, err := batch.New(config); err == nil {
			t.Errorf("%+v passes", config)
		}
	}
}

// TestCallersGetTheirOwn result and error, whatever Flush does with its slice.
func TestCallersGetTheirOwn(t *testing.T) {
	odd := errors.New("odd")
	w := made(t, batch.Config[int, string]{MaxSize: 7, Workers: 2, Flush: func(_ context.Context, items []*item) error {
		for _, i := range items {
			if i.Result = fmt.Sprint(i.Value); i.Value%2 == 1 {
				i.Err = odd
			}
		}
		slices.Reverse(items)
		clear(items[:len(items)/2])
		return nil
	}})
	var wg sync.WaitGroup
	for n := range 500 {
		wg.Go(func() {
			got, err := w.Do(context.Background(), n)
			if got != fmt.Sprint(n) || errors.Is(err, odd) != (n%2 == 1) {
				t.Errorf("item %d: %q, %v", n, got, err)
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if s := w.Stats(); s.Items != 500 || s.Gathered != 0 {
		t.Errorf("%+v", s)
	}
}

func TestErrorOfTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, own := errors.New("all"), errors.New("own")
		w := made(t, batch.Config[int, string]{MaxDelay: time.Second, Flush: func(_ context.Context, items []*item) error {
			items[0].Err = own
			items[1] = nil
			return all
		}})
		defer w.Close()
		var errs [2]error
		for n := range errs {
			go func() { _, errs[n] = w.Do(context.Background(), n) }()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if errs[0] != own || errs[1] != all {
			t.Errorf("%v, want the item's own error, and the group's for the others", errs)
		}
	})
}

func TestSizeAndDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got sizes
		w := made(t, batch.Config[int, string]{MaxSize: 10, MaxDelay: 5 * time.Millisecond, Flush: got.flush})
		for n := range 25 {
			go w.Do(context.Background(), n)
		}
		synctest.Wait()
		got.want(t, 10, 10)
		time.Sleep(5*time.Millisecond - 1)
		synctest.Wait()
		got.want(t, 10, 10)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		got.want(t, 10, 10, 5)
		w.Close()
		if s := w.Stats(); s.Full != 2 || s.Due != 1 || s.Last != 0 || s.Groups != 3 || s.Items != 25 {
			t.Errorf("%+v", s)
		}
	})
}

// TestWithoutDelay: a lone caller does not wait, and a group grows while the worker is
// busy.
func TestWithoutDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got sizes
		w := made(t, batch.Config[int, string]{Flush: func(ctx context.Context, items []*item) error {
			time.Sleep(time.Second)
			return got.flush(ctx, items)
		}})
		begun := time.Now()
		if _, err := w.Do(context.Background(), 0); err != nil || time.Since(begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		for n := range 10 {
			go w.Do(context.Background(), n)
			synctest.Wait()
		}
		w.Close()
		got.want(t, 1, 1, 9)
	})
}

func TestTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		w := made(t, batch.Config[int, string]{MaxSize: 3, MaxDelay: time.Hour, Flush: func(_ context.Context, items []*item) error {
			for _, i := range items {
				got = append(got, i.Value)
			}
			return nil
		}})
		ctx, cancel := context.WithCancel(context.Background())
		left := make(chan error)
		go func() {
			_, err := w.Do(ctx, 1)
			left <- err
		}()
		synctest.Wait()
		go w.Do(context.Background(), 2)
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) || errors.Is(err, batch.ErrUncertain) {
			t.Errorf("%v, want the context's error alone", err)
		}
		if _, err := w.Do(ctx, 4); !errors.Is(err, context.Canceled) {
			t.Errorf("%v for a context that has ended", err)
		}
		w.Close()
		if !slices.Equal(got, []int{2}) {
			t.Errorf("%v were written, want what was not taken back", got)
		}
		if s := w.Stats(); s.TakenBack != 1 || s.Items != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// TestLeftDuringTheWrite: the caller hears that the outcome is open, and at once.
func TestLeftDuringTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := made(t, batch.Config[int, string]{Flush: func(context.Context, []*item) error {
			time.Sleep(time.Minute)
			return nil
		}})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		begun := time.Now()
		_, err := w.Do(ctx, 1)
		if !errors.Is(err, batch.ErrUncertain) || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		w.Close()
	})
}

func TestFullQueueBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := made(t, batch.Config[int, string]{MaxSize: 2, Queue: 4, Flush: func(context.Context, []*item) error {
			<-release
			return nil
		}})
		for n := range 4 {
			go w.Do(context.Background(), n)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := w.Do(ctx, 5); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, batch.ErrUncertain) {
			t.Errorf("%v from a full queue", err)
		}
		blocked := make(chan error, 1)
		go func() {
			_, err := w.Do(context.Background(), 6)
			blocked <- err
		}()
		closing := make(chan error, 1)
		go func() {
			_, err := w.Do(context.Background(), 7)
			closing <- err
		}()
		synctest.Wait()
		if s := w.Stats(); s.Items+int64(s.Gathered) != 4 {
			t.Errorf("%+v: the queue took more than 4", s)
		}
		close(release)
		if err := <-blocked; err != nil {
			t.Error(err)
		}
		if err := <-closing; err != nil {
			t.Error(err)
		}
		w.Close()
	})
}

func TestFlushThatMisbehaves(t *testing.T) {
	for name, misbehave := range map[string]func(){
		"panic":  func() { panic("flush") },
		"goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := made(t, batch.Config[int, string]{MaxSize: 2, Flush: func(_ context.Context, items []*item) error {
					time.Sleep(time.Second)
					if items[0].Value < 4 {
						misbehave()
					}
					return nil
				}})
				var errs [8]error
				for n := range errs {
					go func() { _, errs[n] = w.Do(context.Background(), n) }()
					synctest.Wait()
				}
				w.Close()
				synctest.Wait()
				for n, err := range errs {
					var p *batch.PanicError
					// The first goes alone, and then 1 and 2, 3 and 4, 5 and 6.
					if bad := n < 5; errors.As(err, &p) != bad || !bad && err != nil {
						t.Errorf("item %d: %v", n, err)
					} else if bad && !strings.Contains(string(p.Stack), "TestFlushThatMisbehaves") {
						t.Errorf("item %d: the stack lacks the culprit:\n%s", n, p.Stack)
					}
				}
				if s := w.Stats(); s.Panics != 3 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got sizes
		w := made(t, batch.Config[int, string]{MaxSize: 2, MaxDelay: time.Hour, Flush: func(ctx context.Context, items []*item) error {
			time.Sleep(time.Second)
			return got.flush(ctx, items)
		}})
		errs := make(chan error, 5)
		for n := range 5 {
			go func() {
				_, err := w.Do(context.Background(), n)
				errs <- err
			}()
		}
		synctest.Wait()
		w.Close()
		w.Close()
		got.want(t, 2, 2, 1)
		for range 5 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if _, err := w.Do(context.Background(), 9); err != batch.ErrClosed {
			t.Error(err)
		}
	})
}

// TestShutdownEndsTheWrite that hangs, through its context.
func TestShutdownEndsTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := made(t, batch.Config[int, string]{MaxSize: 1, Queue: 1, Flush: func(ctx context.Context, _ []*item) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		failed, refused := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := w.Do(context.Background(), 1)
			failed <- err
		}()
		synctest.Wait()
		go func() {
			_, err := w.Do(context.Background(), 2)
			refused <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := w.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := <-refused; err != batch.ErrClosed {
			t.Errorf("%v for a caller who waited for room", err)
		}
		w.Close()
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := made(t, batch.Config[int, string]{Timeout: time.Second, Flush: func(ctx context.Context, _ []*item) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		defer w.Close()
		begun := time.Now()
		if _, err := w.Do(context.Background(), 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}
