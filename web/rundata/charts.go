package rundata

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/charmbracelet/x/ansi" // display width of text

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Chart is one chart of the page, all its lines in one unit.
type Chart struct {
	ID    string `json:"id"`
	Group string `json:"group"` // load, cpu, network, runtime, database
	Title string `json:"title"`
	Note  string `json:"note"` // note for reading it right
	Unit  string `json:"unit"` // 1, 1/s, ns, bytes, cpus
	Stack bool   `json:"stack"`
	Log   bool   `json:"log"`
	Heat  bool   `json:"heat"` // the latency heat map lies behind the lines
	Lines []Line `json:"lines"`
}

// topStatements is how many statements are shown apart.
const topStatements = 5

// charts returns all charts, those without a line too; a line that the record does not hold has no values.
func (b *chartBuilder) charts(texts map[string]string) []Chart {
	return slices.Concat(b.loadCharts(), b.cpuCharts(), b.networkCharts(), b.runtimeCharts(), b.databaseCharts(texts))
}

// drawn returns the charts for which the record holds anything.
func drawn(all []Chart) []Chart {
	out := []Chart{}
	for _, c := range all {
		c.Lines = slices.DeleteFunc(c.Lines, func(l Line) bool { return l.Values == nil })
		if len(c.Lines) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func (b *chartBuilder) loadCharts() []Chart {
	errors := b.total(series.LoadErrors, b.perSecond)
	succeeded := b.perSecond(series.LoadRequests, "")
	if succeeded != nil {
		succeeded = plus(succeeded, errors, -1)
	}
	errorLine := b.line("errors", "bad", errors)
	return []Chart{
		{ID: "throughput", Group: "load", Title: "Throughput", Unit: "1/s", Note: "requests that ended, per second", Lines: []Line{
			b.line("successes", "0", succeeded), errorLine, b.line("sent", "muted", b.perSecond(series.LoadSent, "")),
			b.line("due", "limit", b.due()),
		}},
		{ID: "latency", Group: "load", Title: "Latency", Unit: "ns", Log: true, Heat: true,
			Note: "from the intended start; shade: how many requests took that long", Lines: []Line{
				b.line("p50", "0", b.raw(series.LoadLatency, "q=p50")), b.line("p90", "3", b.raw(series.LoadLatency, "q=p90")),
				b.line("p99", "1", b.raw(series.LoadLatency, "q=p99")), b.line("max", "muted", b.raw(series.LoadLatency, "q=max")),
			}},
		{ID: "outstanding", Group: "load", Title: "Requests outstanding", Unit: "1", Lines: []Line{
			b.line("in flight", "0", b.raw(series.LoadInFlight, "")), b.line("due, not sent", "bad", b.raw(series.LoadQueued, "")),
			b.line("connections", "muted", b.raw(series.LoadConnections, "")),
		}},
		{ID: "lag", Group: "load", Title: "Generator lag", Unit: "ns", Log: true,
			Note: "sent minus intended; large lag voids the run", Lines: []Line{
				b.line("p50", "0", b.raw(series.LoadLag, "q=p50")), b.line("p99", "1", b.raw(series.LoadLag, "q=p99")),
				b.line("max", "muted", b.raw(series.LoadLag, "q=max")),
			}},
	}
}

// due is the rate at which requests became due in an open loop: those that were sent, and by how much the
// queue of those that were not grew. It is absent where the queue was not read at both ends of a window.
func (b *chartBuilder) due() []float64 {
	before := timebase.Span{From: b.span.From - b.width, To: b.span.To}
	sent, queue := b.rec.Series(series.LoadSent, "", before), b.rec.Series(series.LoadQueued, "", before)
	if sent.Values == nil || queue.Values == nil || len(queue.Values) != len(sent.Values) || len(sent.Values) < 2 {
		return nil
	}
	due := make([]float64, len(sent.Values)-1)
	for i := range due {
		waited := queue.Values[i]
		if math.IsNaN(waited) && math.IsNaN(sent.Values[i]) {
			waited = 0 // nothing was due before the load began
		}
		due[i] = max(0, (sent.Values[i+1]+queue.Values[i+1]-waited)/b.width.Seconds())
	}
	return due
}

// cpuCharts stacks who used the host's CPUs. The rest of the host's own
// figure after target, database and generator are taken off is "other"; the
// figures come from different readings, so a negative rest is cut at zero.
func (b *chartBuilder) cpuCharts() []Chart {
	user, system := b.cpus(series.ProcessUser, ""), b.cpus(series.ProcessSystem, "")
	database, generator := b.cpus(series.DBCPU, ""), b.cpus(series.GeneratorCPU, "")
	busy := b.cpus(series.HostBusy, "")
	var other []float64
	if busy != nil {
		other = slices.Clone(busy)
		for _, part := range [][]float64{user, system, database, generator} {
			if part != nil {
				other = plus(other, part, -1)
			}
		}
		for i := range other {
			other[i] = max(other[i], 0)
		}
	}
	count := b.line("CPUs of the host", "limit", b.raw(series.HostCPUs, ""))
	quota := b.line("CPUs allowed", "bad", b.raw(series.CgroupQuota, ""))
	count.Apart, quota.Apart = true, true
	return []Chart{
		{ID: "cpu", Group: "cpu", Title: "CPUs in use", Unit: "cpus", Stack: true,
			Note: "stacked; the limit is the number of CPUs", Lines: []Line{
				b.line("target, user", "0", user), b.line("target, system", "4", system), b.line("database", "2", database),
				b.line("load generator", "3", generator), b.line("other", "muted", other),
				b.line("stolen by the hypervisor", "bad", b.cpus(series.HostSteal, "")), count, quota,
			}},
		{ID: "queueing", Group: "cpu", Title: "Waiting for a CPU", Unit: "cpus", Note: "threads ready to run, on average", Lines: []Line{
			b.line("target's run delay", "1", b.cpus(series.ProcessRunDelay, "")),
			b.line("generator's run delay", "3", b.cpus(series.GeneratorDelay, "")),
			b.line("throttled by the cgroup", "bad", b.cpus(series.CgroupThrottled, "")),
			b.line("CPU pressure (PSI)", "muted", b.cpus(series.PressureCPU, "")),
		}},
		{ID: "memory", Group: "cpu", Title: "Memory", Unit: "bytes", Lines: []Line{
			b.line("target's resident set", "0", b.raw(series.ProcessRSS, "")), b.line("cgroup", "3", b.raw(series.CgroupMemory, "")),
			b.line("cgroup's limit", "limit", b.raw(series.CgroupMemoryLimit, "")),
		}},
	}
}

func (b *chartBuilder) networkCharts() []Chart {
	return []Chart{
		{ID: "retransmits", Group: "network", Title: "TCP segments retransmitted", Unit: "1/s", Lines: []Line{
			b.line("by the target", "1", b.total(series.TCPRetransmits, b.perSecond)),
			b.line("on its sockets", "0", b.perSecond(series.SocketsRetransmits, "")),
			b.line("in its network namespace", "muted", b.perSecond(series.NetRetransmits, "")),
		}},
	}
}

// Names of runtime/metrics that the page shows.
const (
	waiting     = "/sched/goroutines/waiting:goroutines"
	running     = "/sched/goroutines/running:goroutines"
	outside     = "/sched/goroutines/not-in-go:goroutines"
	goroutines  = "/sched/goroutines:goroutines"
	runnable    = "/sched/goroutines/runnable:goroutines"
	gomaxprocs  = "/sched/gomaxprocs:threads"
	heapLive    = "/gc/heap/live:bytes"
	heapGoal    = "/gc/heap/goal:bytes"
	heapObjects = "/memory/classes/heap/objects:bytes"
	gcCycles    = "/gc/cycles/total:gc-cycles"
	gcPauses    = "/sched/pauses/total/gc:seconds"
	latencies   = "/sched/latencies:seconds"
	allocated   = "/gc/heap/allocs:bytes"
	mutexWait   = "/sync/mutex/wait/total:seconds"
)

func (b *chartBuilder) runtimeCharts() []Chart {
	return []Chart{
		{ID: "goroutines", Group: "runtime", Title: "Goroutines", Unit: "1", Lines: []Line{
			b.line("goroutines", "0", b.raw(goroutines, "")), b.line("runnable", "1", b.raw(runnable, "")),
			b.line("waiting", "3", b.raw(waiting, "")), b.line("running", "2", b.raw(running, "")),
			b.line("in system calls or C", "4", b.raw(outside, "")), b.line("GOMAXPROCS", "limit", b.raw(gomaxprocs, "")),
		}},
		{ID: "heap", Group: "runtime", Title: "Heap", Unit: "bytes", Lines: []Line{
			b.line("live after GC", "0", b.raw(heapLive, "")), b.line("objects", "3", b.raw(heapObjects, "")),
			b.line("goal", "limit", b.raw(heapGoal, "")),
		}},
		{ID: "allocation", Group: "runtime", Title: "Allocation", Unit: "bytes/s",
			Lines: []Line{b.line("allocated", "0", b.perSecond(allocated, ""))}},
		{ID: "cycles", Group: "runtime", Title: "GC cycles", Unit: "1/s", Lines: []Line{b.line("cycles", "0", b.perSecond(gcCycles, ""))}},
		{ID: "pauses", Group: "runtime", Title: "Scheduling latency and GC pauses", Unit: "ns", Log: true,
			Note: "scheduling latency is sampled by the runtime, 1 in 8", Lines: []Line{
				b.line("scheduling p50", "3", b.raw(latencies, "q=p50")),
				b.line("scheduling p99", "0", b.raw(latencies, "q=p99")), b.line("longest GC pause", "1", b.raw(gcPauses, "q=max")),
			}},
		{ID: "mutex", Group: "runtime", Title: "Goroutines waiting for a lock", Unit: "1",
			Note: "mean over the window; sampled by the runtime", Lines: []Line{b.line("waiting", "1", b.cpus(mutexWait, ""))}},
	}
}

func (b *chartBuilder) databaseCharts(texts map[string]string) []Chart {
	maximum := b.line("max_connections", "limit", b.raw(series.DBMax, ""))
	maximum.Apart = true
	return []Chart{
		{ID: "statements", Group: "database", Title: "Time in statements", Unit: "1", Stack: true,
			Note: "executions at a time, stacked by statement", Lines: b.statementLines(texts)},
		{ID: "pool", Group: "database", Title: "Connection pool of the target", Unit: "1", Lines: []Line{
			b.line("in use", "0", b.raw(series.PoolInUse, "")), b.line("maximum", "limit", b.raw(series.PoolMax, "")),
		}},
		{ID: "backends", Group: "database", Title: "Backends by state", Unit: "1", Stack: true,
			Lines: append(b.byLabel(series.DBBackends, "state"), maximum)},
		{ID: "waits", Group: "database", Title: "Backends that wait, by event", Unit: "1", Stack: true,
			Lines: b.byLabel(series.DBWaits, "event")},
		{ID: "sessions", Group: "database", Title: "Sessions and transactions", Unit: "1/s", Lines: []Line{
			b.line("sessions opened", "1", b.perSecond(series.DBSessions, "")),
			b.line("commits", "0", b.perSecond(series.DBCommits, "")), b.line("rollbacks", "bad", b.perSecond(series.DBRollbacks, "")),
		}},
	}
}

// textsOf returns the statements' texts by query id.
func textsOf(statements *database.Statements) map[string]string {
	texts := map[string]string{}
	if statements != nil {
		for _, s := range statements.Statements {
			texts[s.QueryID] = s.Text
		}
	}
	return texts
}

// statementLines shows the statements with the most time apart; the rest is one
// line.
func (b *chartBuilder) statementLines(texts map[string]string) []Line {
	return b.largest(series.StatementTime, topStatements, b.cpus, func(labels string) string {
		id := series.Label(labels, "queryid")
		return ansi.Truncate(notation.Clean(cmp.Or(texts[id], "query "+id)), 60, "...")
	})
}

func (b *chartBuilder) byLabel(name, label string) []Line {
	return b.largest(name, 7, b.raw, func(labels string) string { return cmp.Or(notation.Clean(series.Label(labels, label)), "none") })
}

// largest returns the n largest of a series' labels as lines, and the sum of
// the rest as one more.
func (b *chartBuilder) largest(name string, n int, read func(name, labels string) []float64, label func(labels string) string) []Line {
	type candidate struct {
		labels string
		sum    float64
	}
	var all []candidate
	for _, labels := range b.rec.Labels(name) {
		all = append(all, candidate{labels, b.amount(name, labels)})
	}
	slices.SortStableFunc(all, func(x, y candidate) int { return cmp.Compare(y.sum, x.sum) })
	var lines []Line
	var rest []float64
	for i, c := range all {
		if i < n {
			lines = append(lines, b.line(label(c.labels), strconv.Itoa(i), read(name, c.labels)))
		} else {
			rest = plus(rest, read(name, c.labels), 1)
		}
	}
	return append(lines, b.line("others", "muted", rest))
}
