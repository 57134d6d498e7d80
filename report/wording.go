package report

import (
	"fmt"
	"math"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/histogram"
)

// This file holds the sentences that text, Markdown and the page share, so
// that one run never reads differently in two of them.

// invalid returns why the figures do not speak of the service, or "".
func invalid(s *record.Summary) string {
	if s.Generator.Verdict() != record.ValidityInvalid || len(s.Generator.WhyInvalid) == 0 && s.Load.Requests == 0 {
		return "" // nothing was measured: the state line and the errors say why
	}
	if len(s.Generator.WhyInvalid) == 0 {
		return "the load generator was the limit, not the service"
	}
	return cleanJoin(s.Generator.WhyInvalid, "; ")
}

// stateLine words the state of a run that is not complete.
func stateLine(state record.State) string {
	if state == record.Running {
		return "The run is still in progress; these figures cover the part so far."
	}
	return "The run was " + notation.Clean(string(state)) + "; these figures cover the part before that."
}

// reservations are what a reader must know before any figure, a sentence each.
func reservations(s *record.Summary) []string {
	list := []string{unconfirmed(s)}
	if s.State != record.Complete {
		list = append(list, stateLine(s.State))
	}
	list = append(list, failed(s), s.Caution)
	for i := range list {
		list[i] = notation.Clean(list[i])
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}

// unconfirmed says that the validity of the figures is unknown; empty
// where the generator judged them.
func unconfirmed(s *record.Summary) string {
	if s.Generator.Verdict() != record.ValidityUnknown {
		return ""
	}
	return "VALIDITY UNKNOWN: the run was killed before the generator checked its figures; these may show the generator's " +
		"limits, not the service's."
}

// nothing is the headline of a run without findings, and the limit of its load
// instead.
func nothing(s *record.Summary) (headline, limit string) {
	l := &s.Load
	switch {
	case l.Requests == 0:
		return "Bottleneck unknown.", "No request finished in the measured span."
	case l.Errors >= l.Requests:
		return "Every request failed.", fmt.Sprintf("%s requests: %s.", notation.Count(l.Requests), tally(l.ErrorKinds))
	case invalid(s) != "":
		return "Bottleneck unknown: the run is invalid.", ""
	}
	limit = limitedBy(s)
	most, n := unhealthy(s), len(s.NotJudged)
	switch {
	case most != "" && n == 0:
		headline = fmt.Sprintf("No cause found: %s.", most)
	case most != "" && n == 1:
		headline = fmt.Sprintf("No cause found, and 1 cause was not judged: %s.", most)
	case most != "":
		headline = fmt.Sprintf("No cause found, and %d causes were not judged: %s.", n, most)
	case n == 0:
		headline = "Nothing found that stops it."
	case n == 1:
		headline = "Nothing found that stops it, but 1 cause was not judged."
	default:
		headline = fmt.Sprintf("Nothing found that stops it, but %d causes were not judged.", n)
	}
	if most == "" {
		limit = cleanJoin([]string{limit, healthy(s)}, " ")
	}
	if s.Ledger != nil && s.Ledger.Largest != "" {
		limit += fmt.Sprintf(" The largest part that one change could remove is %s.", notation.Clean(s.Ledger.Largest))
	}
	if s.CPU != nil && s.CPU.Full {
		limit += " " + full(s.CPU)
	}
	return headline, limit
}

// hints says what the ledger of a run shows whose findings are hints and no more, while one
// thing has most of its time; "" otherwise.
func hints(s *record.Summary) string {
	if s.Ledger == nil || s.Ledger.Most == "" || len(s.Findings) == 0 {
		return ""
	}
	for _, f := range s.Findings {
		if f.Confidence != findings.Low {
			return ""
		}
	}
	return fmt.Sprintf("No cause is certain: %s.", notation.Clean(s.Ledger.Most))
}

// unhealthy says why a run without findings may not pass for a healthy one: one thing takes
// most of its time, or where that goes was not measured; "" where it has a healthy shape.
func unhealthy(s *record.Summary) string {
	switch l := s.Ledger; {
	case l != nil && l.Most != "":
		return notation.Clean(l.Most)
	case l == nil || len(l.RequestTime) == 0 && (len(l.CPU) == 0 || !spread(s)):
		return "where requests' time goes was not measured"
	}
	return ""
}

// spread reports whether the load uses the CPUs up, and no function has most of that.
func spread(s *record.Summary) bool {
	return s.CPU != nil && s.CPU.Full && s.Ledger != nil && len(s.Ledger.CPU) > 0 && s.Ledger.Most == ""
}

// healthy names the shape by which a run passes for a healthy one. A single wait has most of
// its requests' time only where the load shows that they are not slow.
func healthy(s *record.Summary) string {
	works := 0.0
	for _, e := range s.Ledger.RequestTime {
		switch long := e.Share > halfOfTime; {
		case e.Who == findings.OnCPU || e.Who == findings.QueuedForCPU:
			works += e.Share
		case long && e.Who == findings.ForClient:
			return fmt.Sprintf("Requests wait for their clients for %s of their time.", notation.Percent(e.Share))
		case long && e.Who == findings.ForAnEvent:
			return fmt.Sprintf("Requests wait for an event, as intended, for %s of their time.", notation.Percent(e.Share))
		case long && s.Load.IntendedRate > 0:
			return fmt.Sprintf("99 of 100 requests finished within %s.", percentile(s.Load.Latency, 99))
		case long && spread(s):
			return "Neither a function nor the database takes most of the CPU." // its wait is a queue for that
		case long:
			return ""
		}
	}
	switch {
	case len(s.Ledger.RequestTime) == 0:
		return "No function takes most of the CPU."
	case queuedForCPU(s.Ledger) >= mostlyQueued && spread(s):
		return "No function takes most of the CPU." // limitedBy says the rest
	case works > halfOfTime && spread(s):
		return fmt.Sprintf("Requests run or wait for a CPU for %s of their time, and no function takes most of the CPU.",
			notation.Percent(works))
	case works > halfOfTime:
		return fmt.Sprintf("Requests run or wait for a CPU for %s of their time.", notation.Percent(works))
	}
	return "No single wait takes most of the requests' time."
}

// halfOfTime is the part of the requests' time from which it is mostly one thing.
const halfOfTime = 0.5

// full says who used the host's CPUs up: nothing in the service is wrong, and yet
// it cannot serve more on this host.
func full(c *findings.CPUUse) string {
	text := fmt.Sprintf("The host's CPUs were %s busy", notation.Percent(math.Min(1, c.Busy/c.CPUs)))
	type user struct {
		name string
		cpus float64
	}
	list := []user{{"the service", c.Target}, {"the load generator", c.Generator}, {"the database", c.Database}}
	for _, peer := range c.Peers {
		list = append(list, user{notation.Clean(peer.Program) + " at port " + notation.Clean(peer.Port), peer.CPUs})
	}
	var users []string
	for _, u := range list {
		if u.cpus > 0 {
			users = append(users, fmt.Sprintf("%s used %s", u.name, notation.Short(u.cpus)))
		}
	}
	if len(users) == 0 {
		return text + "."
	}
	return fmt.Sprintf("%s: of %s CPUs %s.", text, notation.Short(c.CPUs), strings.Join(users, ", "))
}

// limitedBy names the limit of the load when nothing in the
// service limits it. For a closed loop that is Little's law, each connection waits for its
// answer, unless it waits for a CPU.
func limitedBy(s *record.Summary) string {
	l, queued := &s.Load, queuedForCPU(s.Ledger)
	switch {
	case l.IntendedRate > 0 && l.Rate > 1.01*l.IntendedRate:
		return fmt.Sprintf("The service worked off a backlog: %s responses/s, where %s requests/s were due.", notation.Rate(l.Rate),
			notation.Rate(l.IntendedRate))
	case l.IntendedRate > 0 && l.Rate >= 0.99*l.IntendedRate:
		return fmt.Sprintf("The service kept up with the schedule: %s of the %s requests/s that were due.",
			notation.Rate(l.Rate), notation.Rate(l.IntendedRate))
	case l.IntendedRate > 0:
		return fmt.Sprintf("The service fell behind the schedule: %s of the %s requests/s that were due "+
			"succeeded.", notation.Rate(l.Rate),
			notation.Rate(l.IntendedRate))
	case queued >= mostlyQueued:
		return fmt.Sprintf("The load was limited by the CPUs: requests were ready to run and waited for one for %s of their time.",
			notation.Percent(queued))
	case s.CPU != nil && s.CPU.Full && l.Service.Mean > 0:
		return fmt.Sprintf("The load was limited by the CPUs: each of its %s connections waited %s for a response on average.",
			notation.Count(int64(l.Connections)), notation.Duration(l.Service.Mean))
	case l.Service.Mean > 0:
		return fmt.Sprintf("The load was limited by its %s connections, each waiting %s for a response on average.",
			notation.Count(int64(l.Connections)), notation.Duration(l.Service.Mean))
	}
	return fmt.Sprintf("The load was limited by its %s connections.", notation.Count(int64(l.Connections)))
}

// mostlyQueued of request time in the queue for a CPU makes that the limit.
const mostlyQueued = 0.5

// queuedForCPU returns the part of request time, 0 to 1, in which requests were ready
// to run and had no CPU; 0 where that is not known.
func queuedForCPU(l *findings.Ledger) float64 {
	if l == nil {
		return 0
	}
	for _, e := range l.RequestTime {
		if e.Who == findings.QueuedForCPU {
			return e.Share
		}
	}
	return 0
}

func rejected(all []findings.Rejected) string {
	parts := make([]string, 0, len(all))
	for _, r := range all {
		parts = append(parts, notation.Clean(r.Cause)+": "+notation.Clean(r.Why))
	}
	return strings.Join(parts, "; ")
}

// notJudged groups causes by the reason they were not judged for: "a, b (no
// trace); c (no database)", in the order in which the reasons come. Where all of it
// does not fit into cells, each reason names a few of its causes, and reasons that do
// not fit even so are left out; the causes left out are counted.
func notJudged(all []findings.NotJudged, cells int) string {
	var order []string
	causes := map[string][]string{}
	for _, n := range all {
		why := notation.Clean(n.Why)
		if causes[why] == nil {
			order = append(order, why)
		}
		if c := notation.Clean(n.Cause); !slices.Contains(causes[why], c) {
			causes[why] = append(causes[why], c)
		}
	}
	grouped := func(most int) (parts []string) {
		for _, why := range order {
			names := causes[why]
			text := strings.Join(names[:min(most, len(names))], ", ")
			if len(names) > most {
				text += fmt.Sprintf(" and %d more", len(names)-most)
			}
			if why != "" {
				text += " (" + why + ")"
			}
			parts = append(parts, text)
		}
		return parts
	}
	parts := grouped(len(all))
	if text := strings.Join(parts, "; "); ansi.StringWidth(text) <= cells {
		return text
	}
	parts = grouped(causesNamed)
	n, more := len(parts), 0
	for ; n > 1 && ansi.StringWidth(strings.Join(parts[:n], "; ")) > cells; n-- {
		more += len(causes[order[n-1]])
	}
	text := strings.Join(parts[:n], "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// causesNamed of one reason are named where room is short.
const causesNamed = 3

// short is the answer in a sentence: what stops the service, where, and what
// removing it is worth.
func short(s *record.Summary) string {
	if why := invalid(s); why != "" {
		return "INVALID: " + why + "."
	}
	if len(s.Findings) == 0 {
		headline, _ := nothing(s)
		return headline
	}
	if why := hints(s); why != "" {
		return why
	}
	f := &s.Findings[0]
	text := notation.Clean(f.Title)
	if at := notation.Clean(fileAndLine(f.Where)); at != "" && !strings.Contains(text, path.Base(at)) {
		text += ", at " + at
	}
	if gain := gain(f); gain != "" {
		text += ": " + gain
	}
	return text + "."
}

// tally lists counts by name, the largest first: "timeout 10, connect 2".
func tally(counts map[string]int64) string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		if counts[names[i]] != counts[names[j]] {
			return counts[names[i]] > counts[names[j]]
		}
		return names[i] < names[j]
	})
	parts := make([]string, 0, len(names))
	for _, name := range names {
		parts = append(parts, notation.Clean(name)+" "+notation.Count(counts[name]))
	}
	return strings.Join(parts, ", ")
}

// ThresholdValue writes a threshold's figure in the unit of its metric, which is the expression's
// first word, as all outputs have it: "no data" where it is missing, with "≥" where it is only a
// lower bound.
func ThresholdValue(t record.ThresholdResult) string {
	if t.Value == nil {
		return "no data"
	}
	metric, _, _ := strings.Cut(strings.TrimSpace(t.Expr), " ")
	if i := strings.IndexAny(metric, "<>="); i >= 0 {
		metric = metric[:i]
	}
	switch metric {
	case "errors":
		return notation.Percent(*t.Value)
	case "rate":
		return notation.Rate(*t.Value) + "/s"
	case "requests":
		return notation.Count(int64(*t.Value))
	}
	return atLeast(int64(*t.Value), t.AtLeast)
}

// atLeast formats a time, and that it is a lower bound if it is.
func atLeast(ns int64, bound bool) string {
	if bound {
		return "≥ " + notation.Duration(ns)
	}
	return notation.Duration(ns)
}

// percentile formats one of the figures of q; 100 is the max.
func percentile(q histogram.Quantiles, p float64) string {
	value := map[float64]int64{50: q.P50, 90: q.P90, 95: q.P95, 99: q.P99, 99.9: q.P999, 100: q.Max}[p]
	return atLeast(value, q.Bound(p))
}

func cleanJoin(parts []string, sep string) string {
	cleaned := make([]string, 0, len(parts))
	for _, p := range parts {
		if c := notation.Clean(p); c != "" {
			cleaned = append(cleaned, c)
		}
	}
	return strings.Join(cleaned, sep)
}
