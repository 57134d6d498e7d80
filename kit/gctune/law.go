package gctune

import (
	"math"
	"slices"
	"time"
)

// The constants of the control law. Each follows from the law's own arithmetic or from the runtime's, not from a
// service.
const (
	// center and low end of the band around the target in which nothing is changed, as shares of it. The upper end is
	// the target.
	center, low = 0.85, 0.7
	// The share of the logarithmic error that one step corrects. See the package's comment: without overshoot
	// for responses up to the second power for CPU, which responds by the first, and up to the fourth for
	// latency.
	gainCPU, gainLatency = 0.5, 0.25
	// damping is how far reversals may lower the gain.
	damping = 8
	// The largest step, as a factor.
	largestCPU, largestLatency = 1.5, 1.25
	// leastCycles is how many collections a decision rests on: the runtime's CPU figures change once per
	// cycle.
	leastCycles = 2
	// smooth is the number of signals in the median.
	smooth = 3
	// mostReversals of direction within a minute.
	mostReversals = 2
	minute        = time.Minute
	// rise is by how much CPU per allocated byte may exceed what the step explains before the step is undone.
	rise = 1.15
	// doubts is by how many standard deviations of its noise it must exceed that as well, and fresh the
	// latest span's weight in the noise.
	doubts, fresh = 2, 0.2
	// answer is the share to which a latency must have fallen when GOGC has doubled, or GOGC has nothing to do with it.
	answer = 0.9
	// rest is how long an undone direction is not tried again.
	rest = 5 * time.Minute
	// headroom is what the runtime keeps free below its memory limit for errors of pacing (runtime/mgcpacer.go).
	headroom = 0.97
	// phases is the number of readings among which one is likely to be late in a cycle.
	phases = 8
	// near is by how much a limit may change before the new one is passed to the
	// runtime.
	near = 0.01
)

// sample is one reading of a process. Counters are cumulative.
type sample struct {
	at      time.Duration // on a monotonic clock
	percent int           // GOGC in force; negative is off
	soft    int64         // the memory limit in force
	gc      float64       // CPU seconds of collection, without idle marking
	user    float64       // CPU seconds of everything else
	cpu     float64       // CPU seconds that the process used, from the kernel if it counts them
	cycles  uint64
	allocs  uint64 // bytes
	live    int64  // bytes marked by the last cycle
	roots   int64  // bytes of stacks and globals that it scanned
	unused  int64  // bytes of heap spans that hold no object
	other   int64  // bytes of Go's memory that are not heap spans
	budget  int64  // bytes that Go may hold so that no limit is passed; none if nothing limits
	latency time.Duration
	heard   bool // latency is a reading
}

// decision is a law's response to a sample.
type decision struct {
	percent int
	memory  int64 // the runtime's memory limit
	state   State
	signal  float64 // the controlled figure as a share of its target; 0 while unknown
	share   float64 // of the CPU in use that goes into collection
}

// law is the controller, free of clock and process: the same samples give the same decisions.
type law struct {
	target       float64       // share of CPU; used if aim is 0
	aim          time.Duration // of latency
	least, most  int
	originalSoft int64 // the memory limit from before, never exceeded

	percent float64
	memory  int64
	since   sample // the last decision's, from where differences are taken
	anchor  sample // where the settings in force began to be measured
	begun   bool

	// What the latest cycle marked, and the one seen before it. A cycle marks what is allocated meanwhile, too, and so
	// one that takes long counts garbage as live: room goes by the smaller of the two. The memory limit holds anyway.
	seen sample
	live int64
	// unused of the latest readings. After a cycle most of it is room for objects that come. What even the least of
	// them has is lost to fragmentation.
	unused []int64

	signals   []float64
	direction int // of the last step
	reversals []time.Duration
	gain      float64 // in force, at most full
	full      float64
	largest   float64

	// How CPU per byte varies between spans without a step: the last one's logarithm, 0 after a step, and the mean
	// square of differences.
	last, variance float64
	// On probation after a step: the expected CPU per byte, and the setting to go
	// back to.
	probation bool
	before    float64
	expected  float64
	suspicion bool
	// Where GOGC was before the last step, while that step lowered it and no decision has confirmed it.
	lowered float64
	// Where a climb began, to see whether latency responds.
	climb struct {
		percent, signal float64
	}
	forbidden [2]time.Duration // until when: down, up
}

// decide takes the samples in order of time.
func (l *law) decide(s sample) decision {
	if !l.begun {
		l.begin(s)
	}
	d := decision{state: Waiting}
	l.limit(s)
	l.remember(s)
	if room := l.room(s); l.percent > room*1.05 && l.percent > float64(l.least) {
		// Safety is not damped: memory is returned at once.
		l.move(s, max(room*0.95, float64(l.least)))
		l.settle(s)
		d.state = NoRoom
	} else if s.cycles-l.since.cycles >= leastCycles && s.allocs > l.since.allocs {
		d.state = l.evaluate(s, &d)
	}
	d.percent, d.memory = int(math.Round(l.percent)), l.memory
	return d
}

func (l *law) begin(s sample) {
	l.begun, l.since, l.anchor, l.seen, l.live = true, s, s, s, s.live
	if l.full, l.largest = gainCPU, largestCPU; l.aim > 0 {
		l.full, l.largest = gainLatency, largestLatency
	}
	l.gain = l.full
	l.variance = math.Pow(math.Log(rise), 2) // until it is measured
	l.percent = float64(s.percent)
	if s.percent < 0 {
		l.percent = float64(l.most) // GOGC was off: the heap was meant to use all available room
	}
	l.percent = min(max(l.percent, float64(l.least)), float64(l.most))
	l.memory = l.originalSoft
}

// limit follows the memory that Go may use. It is never below the live heap: no collection could get there,
// and each would waste CPU.
func (l *law) limit(s sample) {
	want := min(max(s.budget, s.live+s.other), l.originalSoft)
	if change := float64(want-l.memory) / float64(l.memory); math.Abs(change) > near || want == l.originalSoft {
		l.memory = want
	}
}

// room returns the GOGC at which the heap fills what the memory limit leaves, by the guide's formula for the heap's
// goal: live + (live + roots) GOGC / 100.
func (l *law) room(s sample) float64 {
	live := min(l.live, s.live)
	if l.memory >= none || live+s.roots <= 0 {
		return math.Inf(1)
	}
	var lost int64
	if len(l.unused) == phases {
		lost = slices.Min(l.unused)
	}
	return (float64(l.memory)*headroom - float64(s.other+lost) - float64(live)) / float64(live+s.roots) * 100
}

// remember keeps what room needs of former readings.
func (l *law) remember(s sample) {
	if s.cycles != l.seen.cycles {
		l.live, l.seen = l.seen.live, s
	}
	if l.unused = append(l.unused, s.unused); len(l.unused) > phases {
		l.unused = l.unused[1:]
	}
}

// evaluate decides on a span with enough collections.
func (l *law) evaluate(s sample, d *decision) State {
	gc, user, bytes := s.gc-l.since.gc, s.user-l.since.user, float64(s.allocs-l.since.allocs)
	defer func() { l.since = s }()
	if gc+user <= 0 || s.cpu <= l.since.cpu {
		return Waiting
	}
	d.share = gc / (gc + user)
	cost := (s.cpu - l.since.cpu) / bytes
	if l.last != 0 {
		difference := math.Log(cost) - l.last
		l.variance += fresh * (difference*difference - l.variance)
	}
	l.last = math.Log(cost)
	if l.probation {
		if math.Log(cost/l.expected) > max(math.Log(rise), doubts*math.Sqrt(l.variance)) {
			if !l.suspicion {
				l.suspicion = true // one span may be bad luck
				return Doubting
			}
			return l.back(s, l.before)
		}
		l.probation, l.suspicion = false, false
	}
	signal := d.share / l.target
	if l.aim > 0 {
		if !s.heard || l.since.at == l.anchor.at {
			return Waiting // right after a step, the reading may still reflect the previous settings
		}
		signal = float64(s.latency) / float64(l.aim)
	}
	l.signals = append(l.signals, signal)
	if len(l.signals) > smooth {
		l.signals = l.signals[1:]
	}
	d.signal = median(l.signals)
	// Right after a step a single reading suffices if it is far off; in doubt three
	// decide.
	if len(l.signals) < smooth && d.signal > low && d.signal < 1.5 {
		return Waiting
	}
	return l.steer(s, *d)
}

// steer takes one step towards the band's center, unless something forbids it.
func (l *law) steer(s sample, d decision) State {
	if d.signal >= low && d.signal <= 1 || d.signal <= 0 {
		l.climb.percent, l.lowered = 0, 0
		return Holding
	}
	if d.signal > 1 && l.lowered > 0 {
		// The target lies on a cliff: a p99 is that of a request without collection until one in a hundred meets a
		// collection, and then jumps. There is no setting in the band, and less memory is not worth the target.
		return l.back(s, l.lowered)
	}
	direction := 1
	if d.signal < low {
		direction = -1
		l.climb.percent = 0
	}
	if l.aim > 0 && direction > 0 {
		if l.climb.percent == 0 {
			l.climb.percent, l.climb.signal = l.percent, d.signal
		} else if l.percent >= 2*l.climb.percent && d.signal > answer*l.climb.signal {
			return l.unclimb(s)
		}
	}
	factor := math.Pow(d.signal/center, l.gain)
	to := l.percent * min(max(factor, 1/l.largest), l.largest)
	if room := l.room(s) * 0.95; direction > 0 && to > room {
		to = max(l.percent, room)
		if to < l.percent*1.02 {
			return NoRoom
		}
	}
	to = min(max(to, float64(l.least)), float64(l.most))
	if math.Round(to) == math.Round(l.percent) {
		if direction > 0 && to >= float64(l.most) || direction < 0 && to <= float64(l.least) {
			return AtBound
		}
		// Below a whole percent a step is the smallest there is.
		to = math.Round(l.percent) + float64(direction)
	}
	if s.at < l.forbidden[(direction+1)/2] {
		return Resting
	}
	if l.reverses(direction) && l.recent(s.at) >= mostReversals {
		return Damped
	}
	from := l.percent
	// From all that was measured under these settings: what the step explains of CPU per byte. The cost of
	// collecting is proportional to 1/GOGC; other savings of a larger heap are not expected.
	gc, user := s.gc-l.anchor.gc, s.user-l.anchor.user
	l.expected = (s.cpu - l.anchor.cpu) / float64(s.allocs-l.anchor.allocs) * (user + gc*max(from/to, 1)) / (user + gc)
	l.move(s, to)
	l.settle(s)
	l.probation, l.suspicion, l.before = true, false, from
	if direction < 0 {
		l.lowered = from
	}
	return Stepped
}

// back undoes a step, and bars its direction for a while. Where that would be one reversal too many, what was found out about
// the step holds until it can be undone.
func (l *law) back(s sample, to float64) State {
	undone := sign(l.percent - to)
	if l.reverses(-undone) && l.recent(s.at) >= mostReversals {
		return Damped
	}
	l.move(s, to)
	l.settle(s)
	l.suspicion = false
	l.forbidden[(undone+1)/2] = s.at + rest
	return SteppedBack
}

// unclimb undoes a climb that latency does not follow.
func (l *law) unclimb(s sample) State {
	taken := l.back(s, l.climb.percent)
	if taken != SteppedBack {
		return taken
	}
	l.climb.percent = 0
	return Deaf
}

func (l *law) reverses(direction int) bool { return l.direction != 0 && direction != l.direction }

// recent counts the reversals of the last minute.
func (l *law) recent(now time.Duration) int {
	l.reversals = slices.DeleteFunc(l.reversals, func(at time.Duration) bool { return now-at >= minute })
	return len(l.reversals)
}

// move sets GOGC and records directions. A reversal halves the gain, a step in the same direction restores
// half of what is lost.
func (l *law) move(s sample, to float64) {
	direction := sign(to - l.percent)
	if direction == 0 {
		return
	}
	if l.reverses(direction) {
		l.recent(s.at)
		l.reversals = append(l.reversals, s.at)
		l.gain = max(l.gain/2, l.full/damping)
	} else {
		l.gain += (l.full - l.gain) / 2
	}
	l.direction, l.percent = direction, to
}

// settle discards what was measured under the previous settings.
func (l *law) settle(s sample) {
	l.since, l.anchor, l.signals = s, s, l.signals[:0]
	l.probation, l.last, l.lowered = false, 0, 0
}

func sign(x float64) int {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}
