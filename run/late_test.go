package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// slowSource is a source that hangs in one of its methods until it is let go.
type slowSource struct {
	name, hangs string
	let         <-chan struct{}
	released    chan struct{} // closed when Run ends
	once        sync.Once
}

var (
	_ observe.Source   = (*slowSource)(nil)
	_ observe.Reporter = (*slowSource)(nil)
	_ observe.Storer   = (*slowSource)(nil)
)

func (s *slowSource) wait(method string) {
	if method == s.hangs {
		<-s.let
	}
}

// Describe implements observe.Source.
func (s *slowSource) Describe() observe.Description { return observe.Description{Name: s.name} }

// Open implements observe.Source.
func (s *slowSource) Open(context.Context, observe.Subject) error {
	s.wait("open")
	return nil
}

// Run implements observe.Source.
func (s *slowSource) Run(ctx context.Context, _ observe.Sink) error {
	defer s.once.Do(func() { close(s.released) })
	<-ctx.Done()
	s.wait("run")
	return ctx.Err()
}

// Health implements observe.Reporter.
func (s *slowSource) Health() record.SourceHealth {
	s.wait("health")
	return record.SourceHealth{OK: true, Samples: 7}
}

// Store implements observe.Storer.
func (s *slowSource) Store() (file string, value any, err error) {
	s.wait("store")
	if s.name == "fails" {
		return "", nil, errors.New("no room")
	}
	return s.name + ".json", s.name, nil
}

// TestLateSourcesCostTheirOwn has one source hang in each of a source's methods: the
// others' health and files are kept, and the late one is reported as late.
//
// In a synctest bubble the clock moves only while everybody waits: what is late hangs; a
// slow machine makes nothing late.
func TestLateSourcesCostTheirOwn(t *testing.T) {
	synctest.Test(t, lateSourcesCostTheirOwn)
}

func lateSourcesCostTheirOwn(t *testing.T) {
	let := make(chan struct{})
	var list []observe.Source
	var all []*slowSource
	for _, name := range []string{"first", "open", "run", "health", "store", "fails", "last"} {
		s := &slowSource{name: name, hangs: name, let: let, released: make(chan struct{})}
		list, all = append(list, s), append(all, s)
	}
	w := openSources(t.Context(), observe.Subject{}, list, patience{hold: time.Millisecond, open: time.Hour, end: 1500 * time.Millisecond})
	w.Begin(&observetest.Sink{})
	synctest.Wait()
	out := w.Close()
	var names []string
	for _, h := range out.Health {
		names = append(names, h.Name)
		late := slices.Contains([]string{"open", "run", "health"}, h.Name)
		if late == h.OK || late != strings.Contains(h.Why, "did not") {
			t.Errorf("%+v, late: %v", h, late)
		}
		if !late && h.Samples != 7 {
			t.Errorf("%s lost its own health: %+v", h.Name, h)
		}
	}
	if want := "first open run health store fails last"; strings.Join(names, " ") != want {
		t.Errorf("health of %v, want %s", names, want)
	}
	for _, name := range []string{"first", "last"} {
		if out.Files[name+".json"] != name {
			t.Errorf("the file of %s is lost: %v", name, out.Files)
		}
	}
	if len(out.Files) != 2 {
		t.Errorf("files %v", out.Files)
	}
	warned := strings.Join(out.Warnings, "\n")
	for _, want := range []string{"store: its file", "fails: no room"} {
		if !strings.Contains(warned, want) {
			t.Errorf("nothing says %q: %s", want, warned)
		}
	}
	// What opens late is released all the same.
	close(let)
	synctest.Wait()
	for _, s := range all {
		select {
		case <-s.released:
		default:
			t.Errorf("%s is not released", s.name)
		}
	}
}

// TestDoctorWaitsForNoSource examines a source that hangs in Open.
func TestDoctorWaitsForNoSource(t *testing.T) {
	let := make(chan struct{})
	defer close(let)
	s := &slowSource{name: "slow", hangs: "open", let: let, released: make(chan struct{})}
	c := examineWithin(t.Context(), s, observe.Subject{}, patience{open: 50 * time.Millisecond, ask: time.Hour})
	if c.State != Blind || c.Name != "slow" || !strings.Contains(c.Why, "did not") || c.Series == nil {
		t.Errorf("%+v", c)
	}
}

// spanSource notes the steady span that it reads when it runs.
type spanSource struct {
	let     chan struct{} // Open waits for it
	subject observe.Subject
	read    chan timebase.Span
}

func (s *spanSource) Describe() observe.Description { return observe.Description{Name: "span"} }

func (s *spanSource) Open(ctx context.Context, subject observe.Subject) error {
	s.subject = subject
	<-s.let
	return nil
}

func (s *spanSource) Run(ctx context.Context, _ observe.Sink) error {
	s.read <- s.subject.Measured()
	<-ctx.Done()
	return nil
}

// TestSourcesReadTheLoadsSpan: the load waits for the sources to open, so its span is known only then. Both a source that opened in
// time and one that opens later read that span.
func TestSourcesReadTheLoadsSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		early := &spanSource{let: make(chan struct{}), read: make(chan timebase.Span, 1)}
		late := &spanSource{let: make(chan struct{}), read: make(chan timebase.Span, 1)}
		close(early.let)
		var steady timebase.Span
		w := openSources(t.Context(), observe.Subject{Steady: &steady}, []observe.Source{early, late}, usual)
		synctest.Wait()
		if len(early.read) > 0 {
			t.Error("a source runs before the load's span is known")
		}
		steady = timebase.Span{From: 4 * time.Second, To: 14 * time.Second}
		w.Begin(&observetest.Sink{})
		close(late.let)
		for name, s := range map[string]*spanSource{"early": early, "late": late} {
			if got := <-s.read; got != steady {
				t.Errorf("%s: reads %v, the load's span is %v", name, got, steady)
			}
		}
		w.Close()
	})
}

// TestInterruptEndsTheWaitForSources: Ctrl-C while a source hangs in Open is not kept waiting.
func TestInterruptEndsTheWaitForSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &spanSource{let: make(chan struct{}), read: make(chan timebase.Span, 1)}
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, interrupt)
		began := time.Now()
		w := openSources(ctx, observe.Subject{}, []observe.Source{hangs}, usual)
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("an interrupt after a second was seen after %v", waited)
		}
		close(hangs.let)
		w.Close()
	})
}
