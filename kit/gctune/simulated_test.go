package gctune

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// simulated is a process by the formulas of the Go guide to the collector: the heap's goal from GOGC and the memory
// limit, the cost of a cycle from what is live. Each read is one second later, so that tests take no time.
type simulated struct {
	mu sync.Mutex

	live, roots, beside int64
	allocating          float64 // bytes/s
	working             float64 // CPU seconds per second, without collection
	marking             float64 // CPU seconds per live byte and cycle
	noise               float64 // of each figure, as a standard deviation of its logarithm
	limit, others       int64   // of the container; 0: none
	share               float64
	latency             func(gcShare, percent float64) time.Duration
	dearer              func(percent int) float64 // factor on all CPU; nil: 1
	loose               int64                     // the most of the heap's spans that is free after a cycle
	floating            float64                   // the most that a cycle counts as live beyond what lives, as a share
	random              *rand.Rand

	now     int
	set     settings
	s       sample
	cycles  float64
	p99     time.Duration // of the last second, without noise
	gcShare float64       // likewise
	highest int64         // RSS that was reached
	fails   error
	applied int
}

func (p *simulated) jitter() float64 { return math.Exp(p.noise * p.random.NormFloat64()) }

func (p *simulated) read() (sample, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now++
	goal := float64(p.live) + float64(p.live+p.roots)*float64(p.set.percent)/100
	if p.set.percent < 0 {
		goal = math.Inf(1)
	}
	if p.set.memory < none {
		goal = min(goal, float64(p.set.memory)*headroom-float64(p.beside))
	}
	// The runtime bounds its own CPU: it never collects more often than that allows.
	goal = max(goal, float64(p.live)*1.01)
	cycles := p.allocating / (goal - float64(p.live)) * p.jitter()
	gc := min(cycles*float64(p.live)*p.marking, 2*p.working)
	factor := 1.0
	if p.dearer != nil {
		factor = p.dearer(p.set.percent)
	}
	p.cycles += cycles
	p.gcShare = gc / (gc + p.working)
	// While it marks, the heap passes its goal by up to a tenth.
	reached := int64(goal*(1+0.1*p.random.Float64())) + p.beside + p.others
	p.highest = max(p.highest, reached)
	p.s.at = time.Duration(p.now) * time.Second
	p.s.percent, p.s.soft = p.set.percent, p.set.memory
	p.s.gc += gc * factor * p.jitter()
	p.s.user += p.working * factor * p.jitter()
	p.s.cpu = p.s.gc + p.s.user
	p.s.cycles = uint64(p.cycles)
	p.s.allocs += uint64(p.allocating)
	p.s.live, p.s.roots, p.s.other = int64(float64(p.live)*p.jitter()*(1+p.floating*p.random.Float64())), p.roots, p.beside
	p.s.unused = int64(float64(p.loose) * p.random.Float64())
	p.s.budget = none
	if p.limit > 0 {
		p.s.budget = int64(p.share*float64(p.limit)) - p.others
	}
	if p.latency != nil {
		p.p99 = p.latency(p.gcShare, float64(p.set.percent))
	}
	return p.s, p.fails
}

func (p *simulated) heard() (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(float64(p.p99) * p.jitter()), p.p99 > 0
}

func (p *simulated) apply(next settings) settings {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.set
	p.set = next
	p.applied++
	return before
}

// assist is the latency of the sweep in the field report: 0.8, 3.2 and 11.7 ms at GOGC 150, 75 and 50.
func assist(_, percent float64) time.Duration {
	x, y := math.Log(max(percent, 1)), 0.0
	points := [][2]float64{{math.Log(50), math.Log(11.7)}, {math.Log(75), math.Log(3.2)}, {math.Log(150), math.Log(0.8)}}
	a, b := points[0], points[1]
	if x > b[0] {
		a, b = points[1], points[2]
	}
	y = a[1] + (x-a[0])*(b[1]-a[1])/(b[0]-a[0])
	return time.Duration(math.Exp(y) * float64(time.Millisecond))
}

// service is a middling one: 400 MB live, 800 MB/s allocated by 1.2 CPUs, 9 % of the CPU for collection at GOGC=100.
func service(seed uint64) *simulated {
	return &simulated{
		live: 400 << 20, roots: 10 << 20, beside: 30 << 20, allocating: 800 << 20, working: 1.2, marking: 0.06 / (400 << 20),
		noise: 0.05, share: 0.9, random: rand.New(rand.NewPCG(seed, 1)), set: settings{100, none},
	}
}

// drive advances a Tuner of a simulated process by so many seconds, and calls each after each.
func drive(o Options, p *simulated, seconds int, each func(second int, t *Tuner)) *Tuner {
	if p.latency != nil && o.P99 == nil {
		o.P99 = p.heard
	}
	o, err := o.complete()
	if err != nil {
		panic(err)
	}
	t := begin(o, p)
	for second := range seconds {
		t.step()
		if each != nil {
			each(second, t)
		}
	}
	return t
}

var errUnreadable = errors.New("no such group")
