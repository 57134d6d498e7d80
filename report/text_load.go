package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
)

// load prints the block that users of wrk know, with service time next to
// latency: coordinated omission would have hidden their difference.
func (t *textWriter) load() {
	l := &t.s.Load
	t.section()
	for _, l := range wrap(loadHead(t.s), t.width, 0) {
		t.line("%s", t.bold(l))
	}
	t.distribution()
	t.indented(fmt.Sprintf("%s requests in %s, %s read, %s written", notation.Count(l.Requests), notation.Duration(l.Duration),
		notation.Size(float64(l.BytesIn)), notation.Size(float64(l.BytesOut))))
	if l.Errors > 0 {
		text := fmt.Sprintf("Errors: %s of %s (%s): %s", notation.Count(l.Errors), notation.Count(l.Requests),
			notation.Percent(ratio(l.Errors, l.Requests)), tally(l.ErrorKinds))
		for _, line := range wrap(text, t.width-2, 0) {
			t.line("  %s", t.red(line))
		}
	}
	if l.ErrorLatency.Max > 0 {
		t.indented("Failed after: " + took(l.ErrorLatency))
	}
	if l.IntendedRate > 0 && l.Lag.Max > 0 {
		t.indented("Schedule lag: " + took(l.Lag))
	}
	if len(l.Status) > 0 {
		for _, line := range wrap("Status: "+tally(l.Status), t.width-2, statusLines) {
			t.line("  %s", line)
		}
	}
	for _, c := range []struct {
		count int64
		what  string
	}{
		{l.Reconnects, "idle connections closed by the target, opened again"},
		{l.Resent, "requests sent again because the target closed their connection before reading them"},
		{l.InFlight, "still in flight after the grace time"},
	} {
		if c.count > 0 {
			t.indented(notation.Count(c.count) + " " + c.what)
		}
	}
	t.line("Requests/sec: %s", right(strconv.FormatFloat(l.Rate, 'f', 2, 64), 12)) // scripts read wrk's line
	if l.Duration > 0 {
		t.line("Transfer/sec: %s", right(notation.Size(series.PerSecond(float64(l.BytesIn), time.Duration(l.Duration))), 12))
	}
	t.steps()
	t.checks()
	if o := t.s.Overhead; o != nil {
		t.section()
		for _, line := range wrap(overhead(o), t.width, 0) {
			t.line("%s", line)
		}
	}
}

// distribution prints the percentiles of latency and service time.
func (t *textWriter) distribution() {
	l := &t.s.Load
	if l.Latency.Max == 0 {
		return
	}
	rows := [][]string{{"Latency distribution", "latency", "service"}}
	for _, q := range quantiles(l) {
		rows = append(rows, []string{right(q.name, 20), q.latency, q.service})
	}
	for i, row := range table(rows, 1, 2) {
		if i == 0 {
			row = t.dim(row)
		}
		t.line("  %s", row)
	}
}

// indented prints text two cells from the edge.
func (t *textWriter) indented(text string) {
	for _, l := range wrap(text, t.width-2, 0) {
		t.line("  %s", l)
	}
}

// statusLines bounds the list of statuses: a target may answer with any of 900.
const statusLines = 3

// took is a line's worth of a histogram.
func took(q histogram.Quantiles) string {
	return fmt.Sprintf("p50 %s, p99 %s, p99.9 %s, max %s", percentile(q, 50), percentile(q, 99), percentile(q, 99.9), percentile(q, 100))
}

// stepFigures is the room in cells for a request's counts and percentiles.
const stepFigures = 50

// steps prints the requests of a mix.
func (t *textWriter) steps() {
	if len(t.s.Load.Steps) == 0 {
		return
	}
	t.section()
	rows := [][]string{{t.dim("request"), t.dim("count"), t.dim("errors"), t.dim("p50"), t.dim("p99"), t.dim("max")}}
	for _, s := range t.s.Load.Steps {
		rows = append(rows, []string{fit(notation.Clean(s.Name), max(t.width-stepFigures, 12)),
			notation.Count(s.Requests), notation.Count(s.Errors),
			percentile(s.Latency, 50), percentile(s.Latency, 99), percentile(s.Latency, 100)})
	}
	if t.width < stepFigures {
		for i := range rows {
			rows[i] = append(rows[i][:1], rows[i][2:5]...) // name, errors, p50, p99
		}
	}
	for _, row := range table(rows, 1, 2, 3, 4, 5) {
		t.line("%s", row)
	}
}

// checks prints the outcome of the scenario's checks. They are apart from
// errors: an answer may come in time with the wrong content.
func (t *textWriter) checks() {
	if len(t.s.Load.Checks) == 0 {
		return
	}
	t.section()
	rows := make([][]string, 0, len(t.s.Load.Checks))
	for _, c := range t.s.Load.Checks {
		name := notation.Clean(c.Name)
		if len(t.s.Load.Steps) > 0 {
			name = notation.Clean(c.Request) + ": " + name
		}
		rows = append(rows, []string{t.mark(c.Failed == 0 && c.Passed > 0), fit(name, t.width-30), checked(c)})
	}
	for _, row := range table(rows, 2) {
		t.line("%s", row)
	}
}

// checked says how a check went.
func checked(c record.CheckResult) string {
	switch {
	case c.Passed+c.Failed == 0:
		return "no answer to check"
	case c.Failed == 0:
		return "all of " + notation.Count(c.Passed)
	}
	return fmt.Sprintf("%s of %s failed", notation.Count(c.Failed), notation.Count(c.Passed+c.Failed))
}

// loadHead describes the load and names its target.
func loadHead(s *record.Summary) string {
	if url := notation.Clean(s.Target.URL); url != "" {
		return loadModel(s) + " @ " + url
	}
	return loadModel(s)
}

// loadModel describes the load in the words of its model.
func loadModel(s *record.Summary) string {
	l := &s.Load
	most := ""
	if l.IntendedRate > 0 {
		most = "up to " // as many as the rate needs
	}
	head := fmt.Sprintf("%s, %s%s connections", notation.Duration(l.Duration), most, notation.Count(int64(l.Connections)))
	if l.Streams > 1 {
		head += fmt.Sprintf(" x %d streams", l.Streams)
	}
	if p := notation.Clean(l.Protocol); p != "" && p != "http/1.1" {
		head += " over " + p
	}
	switch {
	case l.IntendedRate > 0:
		head += fmt.Sprintf(", open loop at %s/s", notation.Rate(l.IntendedRate))
	case l.Model != "":
		head += ", " + notation.Clean(l.Model) + " loop"
	}
	return head
}

type quantileRow struct{ name, latency, service string }

func quantiles(l *record.LoadSummary) (rows []quantileRow) {
	for _, p := range []float64{50, 90, 95, 99, 99.9, 100} {
		if p < 100 && math.Round(float64(l.Requests)*(100-p)) < 100 {
			continue // fewer than one request lies beyond it: it would be the maximum under another name
		}
		name := "max"
		if p < 100 {
			name = strconv.FormatFloat(p, 'f', -1, 64) + " %"
		}
		rows = append(rows, quantileRow{name, percentile(l.Latency, p), percentile(l.Service, p)})
	}
	return rows
}

// overhead words the cost of observation; + is slower.
func overhead(o *record.Overhead) string {
	return fmt.Sprintf("Observation cost %s of throughput (%s to %s, %s confidence, %d pairs)",
		notation.Change(o.Estimate),
		strings.TrimSuffix(notation.Change(o.Low), " %"), notation.Change(o.High), notation.Percent(o.Confidence), o.Pairs)
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// thresholds prints k6's check marks.
func (t *textWriter) thresholds() {
	if len(t.s.Thresholds) == 0 {
		return
	}
	t.section()
	rows := make([][]string, 0, len(t.s.Thresholds))
	for _, th := range t.s.Thresholds {
		rows = append(rows, []string{t.mark(th.OK), notation.Clean(th.Expr), ThresholdValue(th)})
	}
	for _, row := range table(rows, 2) {
		t.line("%s", row)
	}
}

func (p paint) mark(ok bool) string {
	if ok {
		return p.green("✓")
	}
	return p.red("✗")
}
