package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/stacks"
	"github.com/redline-go/redline/verify"
)

// Series of a run's steady span, one value per window; nil where not recorded.

func metricSeries(r *record.Record, name string) []float64 {
	return r.Series(name, "", r.Run.Steady).Values
}

func quantileWindows(q string) func(*record.Record) figure {
	return func(r *record.Record) figure {
		return of(r.Series(series.LoadLatency, series.Labels("q", q), r.Run.Steady).Values)
	}
}

// served returns the successful requests of each window.
func served(r *record.Record) []float64 {
	out := slices.Clone(metricSeries(r, series.LoadRequests))
	for _, labels := range r.Labels(series.LoadErrors) {
		for i, v := range r.Series(series.LoadErrors, labels, r.Run.Steady).Values {
			if i < len(out) && v > 0 {
				out[i] -= v
			}
		}
	}
	return out
}

// cpuWindows returns the CPU of the target's process in each window, ns.
func cpuWindows(r *record.Record) []float64 {
	for _, pair := range [][2]string{
		{"/process/cpu/user:cpu-seconds", "/process/cpu/system:cpu-seconds"}, {series.ProcessUser, series.ProcessSystem},
	} {
		user, system := metricSeries(r, pair[0]), metricSeries(r, pair[1])
		if len(user) == 0 || len(user) != len(system) {
			continue
		}
		out := make([]float64, len(user))
		for i := range user {
			out[i] = user[i] + system[i]
		}
		return out
	}
	return nil
}

// seconds returns the width of each window of the requests.
func seconds(r *record.Record) []float64 {
	return slices.Repeat([]float64{r.Width(r.Run.Steady).Seconds()}, len(metricSeries(r, series.LoadRequests)))
}

// mostChanges bounds the places that are listed, and leastChange, of the larger
// run's whole, keeps out noise.
const (
	mostChanges = 10
	leastChange = 0.01
)

// parts returns the time of the mean request and that of the slowest hundredth by
// state and place, in ns.
func parts(r *record.Record) (mean, tail map[string]float64) {
	var a breakdown.Anatomy
	if r.ReadJSON(breakdown.File, &a) != nil {
		return nil, nil
	}
	return byPlace(a.All), byPlace(a.Tail)
}

func byPlace(list []breakdown.Part) map[string]float64 {
	costs := map[string]float64{}
	for _, p := range list {
		costs[strings.TrimSpace(string(p.State)+" "+p.Site)] += float64(p.NS)
	}
	return costs
}

// functions returns the service's CPU per request by function, each function's
// own, in ns, and the weight of one sample of the profile. The error says that there is a profile
// which cannot be read.
func functions(r *record.Record) (costs map[string]float64, each float64, err error) {
	cpu, _ := series.Sum(cpuWindows(r))
	requests, _ := series.Sum(served(r))
	costs = map[string]float64{}
	self, _, samples, err := stacks.Functions(r)
	if !(cpu > 0 && requests > 0) || samples == 0 {
		return costs, 0, err
	}
	for name, share := range self {
		costs[name] = share * cpu / requests
	}
	return costs, cpu / requests / float64(samples), err
}

// sampled drops changes that sampling alone makes.
func sampled(list []verify.Change, each [2]float64) []verify.Change {
	return slices.DeleteFunc(list, func(c verify.Change) bool { return sampling(c.A, c.B, each) })
}

// sampling reports whether two costs differ by less than three standard errors, where one sample
// weighs each: counts of samples have their own size as variance (Poisson).
func sampling(a, b float64, each [2]float64) bool {
	return math.Abs(b-a) < 3*math.Sqrt(a*each[0]+b*each[1])
}

// changes returns the places whose cost differs most.
func changes(a, b map[string]float64) []verify.Change {
	var whole [2]float64
	places := map[string]verify.Change{}
	for side, costs := range []map[string]float64{a, b} {
		for place, ns := range costs {
			c := places[place]
			c.Place = place
			if side == 0 {
				c.A = ns
			} else {
				c.B = ns
			}
			places[place], whole[side] = c, whole[side]+ns
		}
	}
	out := []verify.Change{}
	if whole[0] == 0 || whole[1] == 0 {
		return out // one run was not observed
	}
	for _, c := range places {
		if math.Abs(c.B-c.A) >= leastChange*max(whole[0], whole[1]) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b verify.Change) int {
		return cmp.Or(cmp.Compare(math.Abs(b.B-b.A), math.Abs(a.B-a.A)), cmp.Compare(a.Place, b.Place))
	})
	return out
}
