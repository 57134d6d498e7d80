package micro_test

import (
	"bytes"
	"sync"
	"testing"
	"unsafe"

	"github.com/redline-go/redline/lab/micro"
)

// render fills a buffer as a handler that writes an answer does.
func render(buf *bytes.Buffer, size int) int {
	for buf.Len() < size {
		buf.WriteString(`{"order":"A-1017","amount":1250,"currency":"EUR"},`)
	}
	return buf.Len()
}

// largest is the capacity above which a buffer is not kept: one large answer would else
// stay in memory for good.
const largest = 64 << 10

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func fresh(size int) int { return render(new(bytes.Buffer), size) }

func pooled(size int) int {
	buf, _ := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	n := render(buf, size)
	if buf.Cap() <= largest {
		buffers.Put(buf)
	}
	return n
}

// BenchmarkObjectPool renders answers of 16 KiB from all CPUs, each into a new buffer or one
// from a sync.Pool.
func BenchmarkObjectPool(b *testing.B) { renderFromAll(b, 16<<10) }

// BenchmarkSmallPool does so with 512 B.
func BenchmarkSmallPool(b *testing.B) { renderFromAll(b, 512) }

func renderFromAll(b *testing.B, size int) {
	answer := micro.Of(fresh, pooled)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if answer(size) < size {
				b.Error("an answer is too short")
				return
			}
		}
	})
}

func TestBuffersAreEqual(t *testing.T) {
	for _, size := range []int{1, 512, 16 << 10, 2 * largest} {
		for range 3 {
			if a, b := fresh(size), pooled(size); a != b {
				t.Errorf("%d bytes: %d and %d are rendered", size, a, b)
			}
		}
	}
}

// loose has its fields in an order that leaves holes; tight has them by size.
type (
	loose struct {
		open   bool
		amount int64
		_      bool
	}
	tight struct {
		amount int64
		open   bool
		_      bool
	}
)

// entries take more than the 64 KiB up to which the compiler leaves a list on the stack.
const entries = 8192

// BenchmarkLayout makes and adds up a list of structs.
func BenchmarkLayout(b *testing.B) {
	sum := micro.Of(sumLoose, sumTight)
	b.ReportAllocs()
	for b.Loop() {
		if sum() == 0 {
			b.Fatal("nothing was added up")
		}
	}
}

//go:noinline
func sumLoose() (sum int64) {
	list := make([]loose, entries)
	for i := range list {
		list[i] = loose{amount: int64(i), open: i%2 == 0}
	}
	for i := range list {
		if list[i].open {
			sum += list[i].amount
		}
	}
	return sum
}

//go:noinline
func sumTight() (sum int64) {
	list := make([]tight, entries)
	for i := range list {
		list[i] = tight{amount: int64(i), open: i%2 == 0}
	}
	for i := range list {
		if list[i].open {
			sum += list[i].amount
		}
	}
	return sum
}

func TestLayout(t *testing.T) {
	if a, b := unsafe.Sizeof(loose{}), unsafe.Sizeof(tight{}); a != 24 || b != 16 {
		t.Errorf("%d and %d bytes, the claim is 24 and 16", a, b)
	}
	if a, b := sumLoose(), sumTight(); a != b {
		t.Errorf("%d and %d", a, b)
	}
}

type point struct {
	x float64
	_ [3]float64
}

//go:noinline
func newPoint(i int) *point { return &point{x: float64(i)} }

//go:noinline
func setPoint(p *point, i int) { *p = point{x: float64(i)} }

// BenchmarkEscape makes an object that the caller keeps no longer than a call: behind a
// pointer that is returned, or in the caller's own frame.
func BenchmarkEscape(b *testing.B) {
	use := micro.Of(escaping, staying)
	b.ReportAllocs()
	for b.Loop() {
		if use(1) != 1 {
			b.Fatal("another point")
		}
	}
}

//go:noinline
func escaping(i int) float64 { return newPoint(i).x }

//go:noinline
func staying(i int) float64 {
	var p point
	setPoint(&p, i)
	return p.x
}

func TestEscape(t *testing.T) {
	for i := range 10 {
		if escaping(i) != staying(i) {
			t.Errorf("%v and %v", escaping(i), staying(i))
		}
	}
	if n := testing.AllocsPerRun(100, func() { staying(3) }); n != 0 {
		t.Errorf("%v allocations where none is claimed", n)
	}
}
