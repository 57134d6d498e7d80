package load

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
)

func TestTraceContext(t *testing.T) {
	s := newSampler(0x0102030405060708, 0, 1, 7)
	a, b := s.next(0, 42), (*Trace)(nil)
	for n := int64(43); b == nil; n++ {
		b = s.next(time.Duration(n)*time.Second, n)
	}
	parent := string(a.AppendParent(nil))
	if len(parent) != 55 || !strings.HasPrefix(parent, "00-0102030405060708") || !strings.HasSuffix(parent, "-01") {
		t.Errorf("traceparent %q", parent)
	}
	if string(a.AppendNumber(nil)) != "42" || a.ID == b.ID || a.Span == b.Span {
		t.Errorf("%+v and %+v", a, b)
	}
	a.Request = 3
	if got := string(a.AppendNumber(nil)); got != "42.3" {
		t.Errorf("the third request of a mix is sent as %q", got)
	}
	again := newSampler(0x0102030405060708, 0, 1, 7)
	if c := again.next(0, 42); c.ID != a.ID || c.Span != a.Span {
		t.Error("ids are not a function of run and count")
	}
}

// TestSampler drives loops at rates from low to high and checks the bound, that it is
// used up, and that every position in a cycle of requests is equally likely: samples
// must not be in step with a mix that takes its requests in turn.
func TestSampler(t *testing.T) {
	for _, rate := range []float64{0.2, 10, 100, 5000, 200_000} {
		const loops, cycle, seconds = 2, 7, 60
		seen := map[[16]byte]bool{}
		var places [cycle]int
		total := 0
		for index := range loops {
			s := newSampler(99, index, loops, 5)
			every := time.Duration(loops * float64(time.Second) / rate)
			for n, at := int64(0), time.Duration(0); at < seconds*time.Second; n, at = n+1, at+every {
				trace := s.next(at, n)
				if trace == nil {
					continue
				}
				if seen[trace.ID] {
					t.Fatalf("at %v/s two requests have one id", rate)
				}
				seen[trace.ID] = true
				places[n%cycle]++
				total++
			}
		}
		most := min(rate, tracesPerSecond) * seconds
		if got := float64(total); got > most+20 || got < 0.7*most-1 {
			t.Errorf("at %v/s %v requests were sampled in %d s", rate, got, seconds)
		}
		for place, n := range places {
			if want := float64(total) / cycle; rate > 1 && math.Abs(float64(n)-want) > 5*math.Sqrt(want)+1 {
				t.Errorf("at %v/s place %d was sampled %d times of %d", rate, place, n, total)
			}
		}
	}
}

// TestSamplerAfterSilence checks that a load that falls to a trickle is sampled
// again soon.
func TestSamplerAfterSilence(t *testing.T) {
	s := newSampler(1, 0, 1, 1)
	at := time.Duration(0)
	for ; at < time.Second; at += time.Microsecond {
		s.next(at, 0)
	}
	for n := range 4 {
		if at += time.Second; s.next(at, 0) != nil {
			return
		} else if n == 3 {
			t.Error("nothing is sampled after the rate fell")
		}
	}
}

func TestTraceable(t *testing.T) {
	for name, want := range map[string]bool{"Traceparent": false, "X-REDLINE-Request": false, "X-Other": true} {
		if got := Traceable(scenario.Request{Headers: map[string]scenario.Secret{name: "x"}}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func BenchmarkSampler(b *testing.B) {
	s := newSampler(1, 0, 1, 1)
	b.ReportAllocs()
	at := time.Duration(0)
	for b.Loop() {
		at += 10 * time.Microsecond
		s.next(at, 1)
	}
}
