package pace

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

func TestIntendedTimes(t *testing.T) {
	sec := time.Second
	tests := []struct {
		name string
		l    scenario.Load
		n    int64
		want time.Duration // negative: none
	}{
		{"first at once", scenario.Load{Rate: 100, Duration: sec}, 0, 0},
		{"constant", scenario.Load{Rate: 100, Duration: sec}, 7, 70 * time.Millisecond},
		{"last", scenario.Load{Rate: 100, Duration: sec}, 99, 990 * time.Millisecond},
		{"end is outside", scenario.Load{Rate: 100, Duration: sec}, 100, -1},
		{"warm-up counts on", scenario.Load{Rate: 100, Warmup: sec, Duration: sec}, 150, 1500 * time.Millisecond},
		{"slower than one a second", scenario.Load{Rate: 0.5, Duration: 10 * sec}, 4, 8 * sec},
		// The integral of 0..100/s over 2 s is 25 t^2.
		{"ramp", scenario.Load{Rate: 1e-9, Duration: 2 * sec, Stages: []scenario.Stage{{To: 100, Over: 2 * sec}}}, 25, sec},
		// From 100/s to 0 in 2 s: 100 t - 25 t^2 = 75 at t = 1.
		{"ramp down", scenario.Load{Rate: 100, Duration: 2 * sec, Stages: []scenario.Stage{{To: 0, Over: 2 * sec}}}, 75, sec},
		{"ramp down to nothing", scenario.Load{Rate: 100, Duration: 9 * sec, Stages: []scenario.Stage{{To: 0, Over: 2 * sec}}}, 100, -1},
		{"jump after a pause", scenario.Load{Rate: 10, Duration: 9 * sec, Stages: []scenario.Stage{{To: 10, Over: sec}, {To: 0}, {To: 0, Over: sec}, {To: 10}, {To: 10, Over: sec}}}, 10, 2 * sec},
		{"stage that holds", scenario.Load{Rate: 10, Warmup: sec, Duration: 9 * sec, Stages: []scenario.Stage{{To: 20}}}, 30, 2 * sec},
		{"stage cut by the end", scenario.Load{Rate: 1e-9, Duration: sec, Stages: []scenario.Stage{{To: 100, Over: 2 * sec}}}, 24, time.Duration(math.Round(math.Sqrt(24.0/25) * 1e9))},
	}
	for _, test := range tests {
		p := New(test.l.WithDefaults())
		got, ok := p.at(test.n)
		if ok != (test.want >= 0) || ok && (got-test.want).Abs() > time.Microsecond {
			t.Errorf("%s: ticket %d at %v, %v; want %v", test.name, test.n, got, ok, test.want)
		}
	}
}

func TestTimeUnderLoad(t *testing.T) {
	ms := time.Millisecond
	turns := []scenario.Stage{{To: 0}, {To: 0, Over: 50 * ms}, {To: 8}, {To: 8, Over: 100 * ms}, {To: 0},
		{To: 0, Over: 200 * ms}, {To: 8}, {To: 8, Over: 100 * ms}, {To: 0}, {To: 0, Over: 50 * ms}}
	p := New(scenario.Load{Connections: 8, Warmup: 100 * ms, Duration: 500 * ms, Stages: turns}.WithDefaults())
	for _, test := range []struct{ from, to, tail, want time.Duration }{
		{100, 600, 0, 200},
		{100, 600, 20, 260}, // and the warm-up's answers
		{100, 600, 500, 500},
		{0, 600, 0, 300},
		{350, 400, 10, 0},
		{200, 300, 0, 50},
	} {
		if got := p.On(timebase.Span{From: test.from * ms, To: test.to * ms}, test.tail*ms); got != test.want*ms {
			t.Errorf("%d to %d ms with a tail of %d: %v, want %d ms", test.from, test.to, test.tail, got, test.want)
		}
	}
}

// TestNoDrift compares with exact arithmetic after a day of load.
func TestNoDrift(t *testing.T) {
	l := scenario.Load{Rate: 2999.7, Duration: 24 * time.Hour}
	p := New(l.WithDefaults())
	for _, n := range []int64{1, 12345, 1e6, 1e8, 259_000_000} {
		got, ok := p.at(n)
		exact := new(big.Rat).Quo(big.NewRat(n*1e9, 1), new(big.Rat).SetFloat64(l.Rate))
		want, _ := exact.Float64()
		if !ok || math.Abs(float64(got)-want) > 1 {
			t.Errorf("ticket %d at %d ns, exactly %.3f", n, got, want)
		}
	}
}

// randomLoad makes loads with stages of all shapes.
func randomLoad(r *rand.Rand, open bool) scenario.Load {
	l := scenario.Load{Warmup: time.Duration(r.IntN(3000)) * time.Millisecond, Duration: time.Duration(1+r.IntN(5000)) * time.Millisecond}
	most := 30.0
	if open {
		most = 3000
		l.Rate = r.Float64()*most + 0.1
	} else {
		l.Connections = 1 + r.IntN(int(most))
	}
	for range r.IntN(5) {
		s := scenario.Stage{To: math.Round(r.Float64() * most), Over: time.Duration(r.IntN(2000)) * time.Millisecond}
		if r.IntN(4) == 0 {
			s.To = 0
		}
		l.Stages = append(l.Stages, s)
	}
	return l
}

func TestPaceProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		l := randomLoad(r, true)
		p := New(l.WithDefaults())
		if p.reached() != p.end {
			t.Fatalf("%+v: the course ends at %v of %v", l, p.reached(), p.end)
		}
		last := time.Duration(0)
		n := int64(0)
		for ; ; n++ {
			at, ok := p.at(n)
			if !ok {
				break
			}
			if at < last || at >= p.end {
				t.Fatalf("%+v: ticket %d at %v, the one before at %v, the end at %v", l, n, at, last, p.end)
			}
			// Ticket n is due where the integral reaches n: within a ns of
			// rounding times the rate, and the last bits of the sums.
			if off := math.Abs(p.integral(at) - float64(n)); off > 1e-4 {
				t.Fatalf("%+v: ticket %d at %v, where %v are due", l, n, at, p.integral(at))
			}
			last = at
		}
		if total := p.Due(p.end); total != n {
			t.Fatalf("%+v: %d tickets, %d due at the end", l, n, total)
		}
		for range 20 {
			at := time.Duration(r.Int64N(int64(p.end)))
			due := p.Due(at)
			if d, ok := p.at(due); ok && d < at {
				t.Fatalf("%+v: %d due before %v, but the next one is at %v", l, due, at, d)
			}
			if d, ok := p.at(due - 1); due > 0 && (!ok || d >= at) {
				t.Fatalf("%+v: %d due before %v, but the last of them is at %v", l, due, at, d)
			}
		}
	}
}

func TestConnectionRamp(t *testing.T) {
	sec := time.Second
	p := New(scenario.Load{Connections: 2, Warmup: sec, Duration: 6 * sec,
		Stages: []scenario.Stage{{To: 10, Over: 4 * sec}, {To: 0, Over: sec}}}.WithDefaults())
	for at, want := range map[time.Duration]int{0: 2, sec: 2, 3 * sec: 6, 5*sec - 1: 10, 5*sec + sec/2: 5, 6 * sec: 0, 7 * sec: 0} {
		if got := p.connections(at); got != want {
			t.Errorf("%d connections at %v, want %d", got, at, want)
		}
	}
	if p.Most() != 10 {
		t.Errorf("%d connections at most", p.Most())
	}
	// Connection 5 joins where the course passes 5.5: 1 s + 3.5/2 s.
	if at, ok := p.Active(5, 0); !ok || (at-2750*time.Millisecond).Abs() > time.Microsecond {
		t.Errorf("connection 5 joins at %v, %v", at, ok)
	}
	if at, ok := p.Active(5, 6*sec); ok {
		t.Errorf("connection 5 joins at %v, after the load has gone to 0", at)
	}
}

// TestStreamsAreUnderWayAtOnce: a closed loop keeps every stream of every
// connection busy, even while the connections are ramped.
func TestStreamsAreUnderWayAtOnce(t *testing.T) {
	sec := time.Second
	p := New(scenario.Load{Connections: 2, Streams: 8, Duration: 4 * sec, Stages: []scenario.Stage{{To: 4, Over: 2 * sec}}}.WithDefaults())
	for at, want := range map[time.Duration]int{0: 16, sec: 24, 3 * sec: 32} {
		if got := p.connections(at); got != want {
			t.Errorf("%d requests under way at %v, want %d", got, at, want)
		}
	}
}

// TestActiveAgrees checks that a connection takes part exactly while the course
// says so, and that waiting for its next time makes progress.
func TestActiveAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		l := randomLoad(r, false)
		p := New(l.WithDefaults())
		for range 50 {
			i, at := r.IntN(p.Most()+2), time.Duration(r.Int64N(int64(p.end)))
			next, ok := p.Active(i, at)
			if now := p.connections(at) > i; now != (ok && next == at) {
				t.Fatalf("%+v: connection %d takes part at %v: %v, but the next time is %v, %v", l, i, at, now, next, ok)
			}
			if ok && next > at {
				// Half a microsecond on, rounding no longer matters.
				if after := next + 500; after < p.end && p.connections(after) < i {
					t.Fatalf("%+v: connection %d joins at %v, with %d connections", l, i, next, p.connections(after))
				}
				if before := at + (next-at)/2; p.connections(before) > i {
					t.Fatalf("%+v: connection %d joins at %v, but takes part at %v", l, i, next, before)
				}
			}
		}
	}
}

// connections returns how many connections, or streams of them, a closed loop
// has at t: the course rounded to the nearest; none outside of the load.
func (p *Pace) connections(t time.Duration) int {
	for i := range p.segments {
		if s := &p.segments[i]; t >= s.from && t < s.to {
			return int(math.Round(s.value(t)))
		}
	}
	return 0
}
