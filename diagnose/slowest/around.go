package slowest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
	"github.com/redline-go/redline/stat"
)

// around looks up what happened in the service and on its host, window by window. A
// request is shorter than most series' windows, so this is circumstance, never
// proof of a cause.
type around struct {
	rec        *record.Record
	width      time.Duration     // of the windows that usual is based on
	usual      float64           // median of the median window, ns
	statements map[string]string // text by query id
}

// newAround reads the usual latency once: the median of the median window of the
// steady span.
func newAround(rec *record.Record) *around {
	a := &around{rec: rec, statements: map[string]string{}}
	if steady := rec.Run.Steady; steady.Len() > 0 {
		line := rec.Series(series.LoadLatency, typical, steady)
		a.width, a.usual = line.Width, stat.Median(line.Values)
	}
	var s database.Statements
	if rec.ReadJSON(database.File, &s) == nil {
		for _, st := range s.Statements {
			a.statements[st.QueryID] = st.Text
		}
	}
	return a
}

// during describes what happened in the windows that a request touched, a sentence
// per event.
func (a *around) during(s timebase.Span) []string {
	var words []string
	for _, explain := range []func(timebase.Span) string{a.latency, a.collector, a.cpu, a.quota, a.statement, a.locks, a.fsync} {
		if text := explain(s); text != "" {
			words = append(words, text)
		}
	}
	return words
}

// sum adds up a series over the windows of s; ok is false if it has no value.
func (a *around) sum(name, labels string, s timebase.Span) (sum float64, ok bool) {
	sum, n := a.rec.Series(name, labels, s).Sum()
	return sum, n > 0
}

// most returns a series' largest value; 0 where it has none.
func (a *around) most(name, labels string, s timebase.Span) float64 {
	return largest(a.rec.Series(name, labels, s))
}

func largest(l windows.Line) float64 {
	most := 0.0
	for _, v := range l.Values {
		if v > most { // false for NaN
			most = v
		}
	}
	return most
}

// windows returns how many windows s touches; in a long run they are wide.
func (a *around) windows(s timebase.Span) int {
	width := a.rec.Width(s)
	return int(timebase.Window(s.To-1, width) - timebase.Window(s.From, width) + 1)
}

// typical is the latency by which a window's requests are compared: not a high percentile, which in a window of few requests is the
// slow request itself.
var typical = series.Labels("q", "p50")

// Factors above the usual median at which a window was somewhat slower, or slow, for
// most requests.
const (
	slower = 1.25
	bad    = 2
)

// others is the least number of requests of a window whose median says something about other requests: of three, one cannot be it if it is
// the slowest.
const others = 3

// latency says whether the request was slow alone or with most others: the former
// points to the request, the latter to the host.
func (a *around) latency(s timebase.Span) string {
	// At the resolution of the usual one, so that they compare.
	line := a.rec.SeriesAt(series.LoadLatency, typical, s, a.width)
	ended := a.rec.SeriesAt(series.LoadRequests, "", s, a.width).Values
	most := 0.0
	for i, v := range line.Values {
		if i < len(ended) && ended[i] >= others && v > most {
			most = v
		}
	}
	if most <= 0 || !(a.usual > 0) {
		return ""
	}
	how := "Other requests were as fast as usual"
	switch {
	case most >= bad*a.usual:
		how = "Most requests were slow"
	case most >= slower*a.usual:
		how = "Other requests were slower too"
	}
	return fmt.Sprintf("%s: a median of %s against a usual %s.", how, diagnose.Span(most), diagnose.Span(a.usual))
}

// collector says in how many of the windows the garbage collector ran, and for how
// long.
func (a *around) collector(s timebase.Span) string {
	n := a.windows(s)
	cycles := a.rec.Series(series.GCCycles, "", s).Values
	if cycles == nil {
		cycles = a.rec.Series("/gc/cycles/total:gc-cycles", "", s).Values
	}
	ran := 0
	for _, v := range cycles {
		if v > 0 {
			ran++
		}
	}
	if ran == 0 {
		return ""
	}
	text := "The garbage collector ran"
	if n > 1 {
		text += fmt.Sprintf(" in %d of the %d windows", ran, n)
	}
	if mark, ok := a.sum(series.GCMark, "", s); ok && mark > 0 {
		text += fmt.Sprintf(", marking for %s", diagnose.Span(mark))
	}
	if pause, ok := a.sum(series.GCPause, "", s); ok && pause > 0 {
		text += fmt.Sprintf(" and stopping the world for %s", diagnose.Span(pause))
	}
	return text + "."
}

// cpu says how busy the host was, with the kernel's run queue delay above a
// millisecond.
func (a *around) cpu(s timebase.Span) string {
	line := a.rec.Series(series.HostBusy, "", s)
	busy, n := line.Sum()
	cpus := a.most(series.HostCPUs, "", s)
	length := time.Duration(n) * a.rec.Run.Window
	if length <= 0 || cpus <= 0 {
		return ""
	}
	use := math.Min(1, busy/(cpus*float64(length)))
	text := fmt.Sprintf("The host's CPUs were %s busy", diagnose.Percent(use))
	if delay := a.most(series.RunQueueLatency, series.Labels("q", "p99"), s); delay > float64(time.Millisecond) {
		text += fmt.Sprintf(", and the service's threads queued for them up to %s (p99)", diagnose.Span(delay))
	}
	return text + "."
}

// quota reports that the CPU quota had run out; "" if the threads were not stopped.
func (a *around) quota(s timebase.Span) string {
	if stood, ok := a.sum(series.CgroupThrottled, "", s); ok && stood > 0 {
		return fmt.Sprintf("The CPU quota had run out, and the service's threads were stopped for %s.", diagnose.Span(stood))
	}
	return ""
}

// statement names the statement that the database spent most time on.
func (a *around) statement(s timebase.Span) string {
	best, took := "", 0.0
	for _, labels := range a.rec.Labels(series.StatementTime) {
		if v, ok := a.sum(series.StatementTime, labels, s); ok && v > took {
			best, took = labels, v
		}
	}
	text := strings.Join(strings.Fields(a.statements[series.Label(best, "queryid")]), " ")
	if best == "" || text == "" {
		return ""
	}
	const longest = 120
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "..."
	}
	calls, _ := a.sum(series.StatementCalls, best, s)
	return fmt.Sprintf("The database worked most on %s (%s, %s).", text, diagnose.Counted(calls, "call", "calls"), diagnose.Span(took))
}

func (a *around) locks(s timebase.Span) string {
	if n := a.most(series.DBBlocked, "", s); n >= 1 {
		return fmt.Sprintf("Up to %s waited for locks.", diagnose.Counted(n, "database session", "database sessions"))
	}
	return ""
}

func (a *around) fsync(s timebase.Span) string {
	calls, ok := a.sum(series.FsyncCalls, "", s)
	took, _ := a.sum(series.FsyncTime, "", s)
	if !ok || calls < 1 || took <= 0 {
		return ""
	}
	return fmt.Sprintf("The service waited for the disk in %s to fsync, %s each.",
		diagnose.Counted(calls, "call", "calls"), diagnose.Span(took/calls))
}
