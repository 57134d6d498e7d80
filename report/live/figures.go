package live

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// The figures of a history, each one value per second.
const (
	figureRate       = "rate"
	figureP50        = "p50"
	figureP99        = "p99"
	figureErrors     = "errors"
	figureLag        = "lag"
	figureGenerator  = "generator" // CPUs
	figureService    = "service"   // CPUs
	figureDatabase   = "database"  // CPUs
	figureBusy       = "busy"      // CPUs of the host
	figureCPUs       = "cpus"
	figureGC         = "gc" // CPUs of the service that collect
	figureCycles     = "cycles"
	figureGoroutines = "goroutines"
	figurePool       = "pool"
	figurePoolMax    = "pool max"
	figureRetransmit = "retransmits"
)

// historyLength bounds the remembered seconds: more than the widest terminal.
const historyLength = 512

// history is what figures were, by second.
type history map[string]lane

// lane is one figure: the seconds that it was seen in, in order, and its values.
type lane struct {
	seconds []int64
	values  []float64
	count   float64 // of the values that the newest second's mean is of
}

// at returns the index of a second, which is made if it is the newest; -1 where the lane has gone on
// without it.
func (l *lane) at(second int64) int {
	n := len(l.seconds)
	if n == 0 || second > l.seconds[n-1] {
		l.seconds, l.values, l.count = append(l.seconds, second), append(l.values, 0), 0
		if n = len(l.seconds); n > historyLength {
			l.seconds, l.values = slices.Delete(l.seconds, 0, 1), slices.Delete(l.values, 0, 1)
		}
		return len(l.seconds) - 1
	}
	i, ok := slices.BinarySearch(l.seconds, second)
	if !ok {
		return -1
	}
	return i
}

func (h *history) change(figure string, second int64, change func(l *lane, i int)) {
	if *h == nil {
		*h = history{}
	}
	l := (*h)[figure]
	if i := l.at(second); i >= 0 {
		change(&l, i)
	}
	(*h)[figure] = l
}

// sum adds to a second; what comes late is added to the second that it belongs to.
func (h *history) sum(figure string, second int64, v float64) {
	h.change(figure, second, func(l *lane, i int) { l.values[i] += v })
}

// most keeps the largest of a second.
func (h *history) most(figure string, second int64, v float64) {
	h.change(figure, second, func(l *lane, i int) { l.values[i] = max(l.values[i], v) })
}

// set keeps the last of a second.
func (h *history) set(figure string, second int64, v float64) {
	h.change(figure, second, func(l *lane, i int) { l.values[i] = v })
}

// mean keeps the mean of the newest second's values; late ones are left out.
func (h *history) mean(figure string, second int64, v float64) {
	h.change(figure, second, func(l *lane, i int) {
		if i == len(l.values)-1 {
			l.count++
			l.values[i] += (v - l.values[i]) / l.count
		}
	})
}

func (h history) clone() history {
	c := make(history, len(h))
	for name, l := range h {
		c[name] = lane{slices.Clone(l.seconds), slices.Clone(l.values), l.count}
	}
	return c
}

// values returns a figure's values, oldest first.
func (h history) values(figure string) []float64 { return h[figure].values }

// whole returns a figure's values without the newest second, which is not over: the sum of half a
// second is half of the figure. ok is false where no second is over.
func (h history) whole(figure string) (v []float64, ok bool) {
	v = h[figure].values
	if len(v) < 2 {
		return nil, false
	}
	return v[:len(v)-1], true
}

// now returns a summed figure's last second that is over.
func (h history) now(figure string) (v float64, ok bool) {
	all, ok := h.whole(figure)
	if !ok {
		return 0, false
	}
	return all[len(all)-1], true
}

// over returns the sum of a figure in the last seconds that are over.
func (h history) over(figure string, seconds int) float64 {
	all, _ := h.whole(figure)
	sum := 0.0
	for _, v := range all[max(0, len(all)-seconds):] {
		sum += v
	}
	return sum
}

// cpuOf names the series that are CPU time in ns, and the figure that each is a part of.
var cpuOf = map[string]string{
	series.ProcessUser:                  figureService,
	series.ProcessSystem:                figureService,
	series.DBCPU:                        figureDatabase,
	series.HostBusy:                     figureBusy,
	series.GCCPU:                        figureGC,
	"/cpu/classes/gc/total:cpu-seconds": figureGC,
}

// countsOf names the series that are counted per second, and the figure of each.
var countsOf = map[string]string{
	series.GCCycles:              figureCycles,
	"/gc/cycles/total:gc-cycles": figureCycles,
	series.SocketsRetransmits:    figureRetransmit,
}

// levelsOf names the series that are levels, and the figure of each.
var levelsOf = map[string]string{
	"/sched/goroutines:goroutines": figureGoroutines,
	series.HostCPUs:                figureCPUs,
	series.PoolInUse:               figurePool,
	series.PoolMax:                 figurePoolMax,
}

// point takes over a figure of the service, of its host or its database.
func (s *state) point(p *series.Point) {
	second := timebase.WindowSpan(p.Window, timebase.DefaultWindow).From
	at := int64(second / time.Second)
	name := p.Series.Name
	switch {
	case name == series.StatementTime:
		s.statements.add(series.Label(p.Series.Labels, "queryid"), at, 0, p.Value)
	case name == series.StatementCalls:
		s.statements.add(series.Label(p.Series.Labels, "queryid"), at, p.Value, 0)
	case p.Series.Labels != "":
	case cpuOf[name] != "":
		s.service.sum(cpuOf[name], at, p.Value/float64(time.Second))
	case countsOf[name] != "":
		s.service.sum(countsOf[name], at, p.Value)
	case levelsOf[name] != "":
		s.service.set(levelsOf[name], at, p.Value)
	}
}

// statements are those of the database, by query id.
type statements struct {
	byID map[string]*statement
	// since is the second that the amounts below count from; they are halved every few seconds, so that
	// the order is that of now.
	since int64
}

// statement is one with its text, "" while that is unknown, and its use.
type statement struct {
	id, text    string
	calls, time float64 // of late
}

// Bounds on statements: how many are known, and after how many seconds a call counts half.
const (
	maxStatements = 2_000
	halfLife      = 5
)

func (s *statements) of(id string) *statement {
	if s.byID == nil {
		s.byID = map[string]*statement{}
	}
	if s.byID[id] == nil && id != "" && len(s.byID) < maxStatements {
		s.byID[id] = &statement{id: id}
	}
	return s.byID[id]
}

func (s *statements) name(named Statement) {
	if st := s.of(named.QueryID); st != nil && named.Text != "" {
		st.text = named.Text
	}
}

func (s *statements) add(id string, second int64, calls, ns float64) {
	if s.since == 0 {
		s.since = second
	}
	for ; second-s.since >= halfLife; s.since += halfLife {
		for _, st := range s.byID {
			st.calls, st.time = st.calls/2, st.time/2
		}
	}
	if st := s.of(id); st != nil {
		st.calls, st.time = st.calls+calls, st.time+ns
	}
}

// topStatements is how many are shown at most.
const topStatements = 5

// top returns those that take the most time.
func (s *statements) top() []statement {
	var all []statement
	for _, st := range s.byID {
		if st.time > 0 && st.text != "" {
			all = append(all, *st)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].time != all[j].time {
			return all[i].time > all[j].time
		}
		return strings.Compare(all[i].id, all[j].id) < 0
	})
	return all[:min(len(all), topStatements)]
}
