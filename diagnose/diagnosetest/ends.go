package diagnosetest

import (
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/timebase"
)

// shot identifies a profile of an instant: its type, and whether it is the one at
// the end of the steady span.
type shot struct {
	typ  string
	last bool
}

// lead is how long before the end of the steady span the last shot is taken.
const lead = 100 * time.Millisecond

// Heap adds a place at which requests allocate, with the bytes in use from there in the
// first and in the last heap profile.
func (b *Builder) Heap(first, last int64, frames ...string) *Builder {
	return b.ends("heap", first, last, append(Stack(frames...), Serving()...), func(bytes int64) []int64 { return []int64{1, bytes} })
}

// Standing adds requests that wait at a place, in the first and in the last
// goroutine profile.
func (b *Builder) Standing(first, last int64, frames ...string) *Builder {
	return b.ends("goroutine", first, last, append(Stack(frames...), Serving()...), func(n int64) []int64 { return []int64{n} })
}

// Left adds goroutines outside any request, in the first and in the last
// goroutine profile.
func (b *Builder) Left(first, last int64, frames ...string) *Builder {
	return b.ends("goroutine", first, last, Stack(frames...), func(n int64) []int64 { return []int64{n} })
}

func (b *Builder) ends(typ string, first, last int64, stack []code.Frame, values func(int64) []int64) *Builder {
	for i, n := range []int64{first, last} {
		key := shot{typ, i == 1}
		if b.shots[key] == nil {
			b.shots[key] = newStacks(typ)
		}
		if n > 0 {
			b.shots[key].samples = append(b.shots[key].samples, sample{stack, values(n)})
		}
	}
	return b
}

// Early takes the first shots that much before the steady span begins.
func (b *Builder) Early(by time.Duration) *Builder {
	b.early = by
	return b
}

func (b *Builder) writeShots(w *record.Writer, steady timebase.Span) error {
	for key, s := range b.shots {
		data, err := s.encode()
		if err != nil {
			return err
		}
		at := steady.From - b.early
		if key.last {
			at = steady.To - lead
		}
		if err := w.Profile(record.Profile{Type: key.typ, Span: timebase.Span{From: at, To: at}, Data: data}); err != nil {
			return err
		}
	}
	return nil
}
