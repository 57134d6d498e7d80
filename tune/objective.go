package tune

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/scenario/criteria"
	"github.com/redline-go/redline/verify"
)

// Objective is the figure that a search improves, with the limits that it must
// keep.
type Objective struct {
	Metric verify.Metric
	Guards []Guard
}

// moreErrors is how many more requests may fail in a trial than with the present setting, 0 to 1.
const moreErrors = 0.001

// Guard is a limit that a recommended setting keeps.
type Guard struct {
	Text     string  // as given: "p99 < 20ms"
	Metric   string  // a percentile, "rss" or Errors
	Quantile float64 // of latency; 0 for the others
	Limit    float64 // ns, bytes, or a share from 0 to 1
}

// Errors is the share of requests that fail, as what a guard limits.
const Errors = "errors"

// objectives maps the names of objectives to metrics.
var objectives = []struct{ name, metric string }{
	{"throughput", "throughput"}, {"cpu", "cpu_per_request"}, {"p50", "p50"}, {"p90", "p90"}, {"p99",
		"p99"}, {"memory", "rss"},
}

var condition = regexp.MustCompile(`^\s*([a-z0-9_]+)(?:\s+(?:at|with|if)\s+(.*))?$`)

// ParseObjective reads an objective, "cpu" or "throughput at p99 < 20ms", and further guards.
// open is set if the load has a rate. An empty text means the throughput of a closed loop, or
// the CPU per request at a rate.
func ParseObjective(text string, guards []string, open bool) (o Objective, err error) {
	if text == "" {
		text = "throughput"
		if open {
			text = "cpu"
		}
	}
	m := condition.FindStringSubmatch(text)
	names := []string{}
	for _, known := range objectives {
		names = append(names, known.name)
	}
	i := -1
	if m != nil {
		i = slices.Index(names, m[1])
	}
	switch {
	case i < 0:
		return o, fmt.Errorf("unknown objective %q (hint: %s, or \"throughput at p99 < 20ms\")", text,
			strings.Join(names, ", "))
	case names[i] == "throughput" && open:
		return o, fmt.Errorf(
			"the rate determines the throughput, so it cannot be the objective (hint: --objective cpu or p99, or -c in place of --rate)",
		)
	case strings.HasPrefix(names[i], "p") && !open:
		return o, fmt.Errorf(
			"in a closed loop latency follows from the throughput (hint: --objective \"throughput at p99 < 20ms\", or --rate)",
		)
	}
	for _, metric := range verify.Metrics(open) {
		if metric.Name == objectives[i].metric {
			o.Metric = metric
		}
	}
	o.Metric.Advisory, o.Metric.Asked = false, true
	if m[2] != "" {
		guards = append(strings.Split(m[2], " and "), guards...)
	}
	for _, g := range guards {
		if err := o.guard(g); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (o *Objective) guard(text string) error {
	name, limit, ok := strings.Cut(text, "<")
	if name = strings.TrimSpace(name); ok && (name == "rss" || name == "memory") {
		v, _, err := amount(strings.TrimSpace(strings.TrimPrefix(limit, "=")))
		if err != nil || !(v > 0) {
			return fmt.Errorf("guard %q: %q is not a size (hint: rss < 512MiB)", text, strings.TrimSpace(limit))
		}
		o.Guards = append(o.Guards, Guard{Text: strings.TrimSpace(text), Metric: "rss", Limit: v})
		return nil
	}
	t, err := criteria.ParseThreshold(text)
	if err != nil {
		return fmt.Errorf("guard %q: %w", text, err)
	}
	quantile, latency := map[string]float64{"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}[t.Metric]
	switch {
	case !strings.HasPrefix(t.Op, "<"):
		return fmt.Errorf("guard %q: a guard is an upper limit (hint: %s < ...)", text, t.Metric)
	case (latency || t.Metric == Errors) && t.Limit > 0:
		o.Guards = append(o.Guards, Guard{Text: t.Expr, Metric: t.Metric, Quantile: quantile, Limit: t.Limit})
	case t.Metric == Errors:
		return fmt.Errorf("guard %q: the limit must be above 0 (hint: errors < 0.01%%)", text)
	default:
		return fmt.Errorf("guard %q: guards are on p50, p90, p95, p99, rss and errors", text)
	}
	return nil
}

// String describes the objective with its guards.
func (o Objective) String() string {
	words := "less " + o.Metric.Name
	for _, known := range objectives {
		if known.metric == o.Metric.Name {
			words = map[bool]string{true: "more ", false: "less "}[o.Metric.Higher] + map[string]string{
				"throughput": "throughput", "cpu": "CPU per request", "p50": "p50", "p90": "p90", "p99": "p99",
				"memory": "memory"}[known.name]
		}
	}
	for i, g := range o.Guards {
		words += []string{" at ", " and "}[min(i, 1)] + g.Text
	}
	return words
}

// Value is a guarded figure over several blocks: a percentile of all their requests, or the
// mean of their memory or share of errors; NaN if a block lacks it.
func (g Guard) Value(blocks []verify.Block) float64 {
	if g.Quantile == 0 {
		sum := 0.0
		for _, b := range blocks {
			v, ok := b.Values[g.Metric]
			if g.Metric == Errors {
				v, ok = b.Errors, true
			}
			if !ok {
				return math.NaN()
			}
			sum += v / float64(len(blocks))
		}
		return sum
	}
	all := verify.Latencies{}
	for _, b := range blocks {
		for bucket, n := range b.Latency {
			all[bucket] += n
		}
	}
	return all.Quantile(g.Quantile)
}

// Amount formats a guarded figure with its unit.
func (g Guard) Amount(v float64) string {
	switch g.Metric {
	case Errors:
		return notation.Percent(v)
	case "rss":
		return notation.Quantity(v, "bytes")
	}
	return notation.Quantity(v, "ns")
}

// excess is the logarithm of a figure divided by its limit. Of errors, less than a tenth of the limit counts as a tenth:
// none has no logarithm. A missing figure counts as broken: missing data never passes.
func (g Guard) excess(blocks []verify.Block) float64 {
	v := g.Value(blocks)
	if g.Metric == Errors {
		v = math.Max(v, g.Limit/10)
	}
	if e := math.Log(v / g.Limit); !math.IsNaN(e) && !math.IsInf(e, 0) {
		return e
	}
	return 1
}

// Excess returns the largest logarithm, over all guards, of a figure divided by its limit, and
// the guard that has it; nil without guards.
func (o Objective) Excess(blocks ...verify.Block) (excess *float64, by Guard) {
	for _, g := range o.Guards {
		e := g.excess(blocks)
		if excess == nil || e > *excess {
			excess, by = &e, g
		}
	}
	return excess, by
}

// allowed is the share of requests that may fail in a trial: as many as guards permit, and hardly more than with the
// present setting. Where that one breaks a guard, a candidate fails too many by the guard, and not at once.
func (o Objective) allowed(present float64) float64 {
	most := present + moreErrors
	for _, g := range o.Guards {
		if g.Metric == Errors {
			most = math.Max(most, g.Limit)
		}
	}
	return most
}

// Outcome turns a pair, with A the present setting, into a trial's outcome.
func (o Objective) Outcome(p verify.Pair) (out Outcome) {
	a, b := o.Metric.Of(p.A), o.Metric.Of(p.B)
	switch {
	case p.B.Errors > o.allowed(p.A.Errors):
		out.Failed = notation.Percent(p.B.Errors) + " of the requests failed"
	case !(a > 0 && b > 0):
		out.Failed, out.Spoilt = "the target does not deliver "+o.Metric.Name, true
	default:
		out.Gain = math.Log(b / a)
		if !o.Metric.Higher {
			out.Gain = -out.Gain
		}
	}
	var by Guard
	out.Excess, by = o.Excess(p.B)
	out.Present, _ = o.Excess(p.A)
	if out.Excess != nil && *out.Excess > 0 {
		out.Broken = fmt.Sprintf("%s (%s)", by.Text, by.Amount(by.Value([]verify.Block{p.B})))
	}
	return out
}

// Rules are those of the session that confirms a setting: only the objective's metric
// decides, the others are shown. If the present setting breaks a guard, that guard's
// figure decides instead, because keeping it is the purpose of the change. Errors are no metric
// of a session: whoever reads its result compares them.
func (o Objective) Rules(open bool, broken *Guard, seed uint64) verify.Rules {
	metrics := verify.Metrics(open)
	decides := o.Metric.Name
	if broken != nil && broken.Metric != Errors {
		decides = broken.Metric
		if !slices.ContainsFunc(metrics, func(m verify.Metric) bool { return m.Name == decides }) {
			metrics = append(metrics, verify.Metric{Name: decides, Unit: "ns", Quantile: broken.Quantile, Margin: 0.25})
		}
	}
	for i := range metrics {
		metrics[i].Advisory, metrics[i].Asked = metrics[i].Name != decides, metrics[i].Name == decides
	}
	return verify.Rules{Metrics: metrics, Seed: seed}
}
