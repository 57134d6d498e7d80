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
	w := openSources(t.Context(), observe.Subject{}, list, &observetest.Sink{},
		patience{hold: time.Millisecond, open: time.Hour, end: 1500 * time.Millisecond})
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
