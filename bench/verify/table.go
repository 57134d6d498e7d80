//go:build linux

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
)

// Marks that the project has set.
const (
	soonEnough    = 305 // seconds of a session: five minutes, and what its end takes
	soonest       = 120
	windowSeconds = 2
)

// again is how to make the committed tables.
const again = "make bench-verify"

func (r *results) markdown(raw string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# How often redline ab is right, measured\n\nCheck how often a verdict of `redline ab` is wrong, and "+
		"how small a change it can detect.\n\nMade by `%s`; every pair is in [%s](%s).\n\n", again, raw, raw)
	fmt.Fprintf(&b, "Three services: the lab's order gateway with all remedies except its cache, and two without a database, hello "+
		"and json, which answer with a line and with forty encoded orders. Each is under 64 connections in a closed loop; a session "+
		"takes at most %s, including its comparison of side a with itself. ", r.MaxTime)
	b.WriteString("Both sides are the same binary; the slower one adds a fixed number of rounds of arithmetic to every " +
		"request, calibrated on the machine to cost 5 % in the same turns. Service, database and load share the machine.")
	for i := range r.Machines {
		r.writeMachine(&b, i)
	}
	b.WriteString("\n\n## Marks\n\n")
	line(&b, "what", "mark", "measured", "")
	line(&b, "---", "---", "---", "---")
	for _, m := range r.marks() {
		line(&b, m.what, m.want, m.got, m.verdict())
	}
	r.writeSimulated(&b)
	r.writeNoise(&b)
	r.writeLaunches(&b)
	r.writeSessions(&b)
	return b.String()
}

func (r *results) writeMachine(b *strings.Builder, i int) {
	p, n := r.Machines[i], r.measured(i)
	if n == 0 && len(r.Machines) > 1 {
		return
	}
	fmt.Fprintf(b, "\n\nMachine %s: %s, %d cores, Linux %s, %s; %s, the last on %s with redline at %s.",
		r.letter(i), p.Host.CPUModel, p.Host.CPUs, p.Host.Kernel, p.Go, notation.Counted(int64(n), "session", ""),
		p.Date.Format("2006-01-02 15:04 UTC"), p.Redline)
	for _, service := range services {
		if w := p.Work[service]; w.Pairs > 0 {
			fmt.Fprintf(b, " A request of %s took %.0f µs of CPU and a round %.2f ns, by %d "+
				"pairs of launches under load: %d rounds are 5 %%.", service, w.CPU/1e3, w.RoundNS, w.Pairs, w.Rounds)
		}
	}
}

// measured returns how many sessions a machine ran.
func (r *results) measured(machine int) int {
	return count(r.Sessions, func(t trial) bool { return t.Machine == machine })
}

// letter names a machine by its rank among those that ran sessions: A to Z, then AA. No two have the same.
func (r *results) letter(machine int) string {
	n := 0
	for i := range machine {
		n += min(1, r.measured(i))
	}
	name := string(rune('A' + n%26))
	for n /= 26; n > 0; n /= 26 {
		n--
		name = string(rune('A'+n%26)) + name
	}
	return name
}

// mark is one line of the promises.
type mark struct {
	what, want, got string
	met, enough     bool
	lost            bool // whatever the sessions that are not measured yet will say
}

func (m mark) verdict() string {
	switch {
	case m.lost:
		return "**missed**"
	case !m.enough:
		return "not measured in full"
	case m.met:
		return "met"
	}
	return "**missed**"
}

func (r *results) marks() []mark {
	list := r.simulatedMarks()
	for _, g := range groups {
		for _, w := range wantedReal {
			list = append(list, r.realMark(g.name, g.services, w))
		}
	}
	slow := slices.Concat(r.of("", "slow5"), r.of("", "slow10"))
	better := 0
	wrong := count(slow, func(t trial) bool {
		verdict := t.exchanged()
		if verdict == verify.Improvement {
			better++
		}
		return verdict == verify.Regression
	})
	got := part(wrong, len(slow))
	if got != "" {
		got += fmt.Sprintf(", and %d an improvement", better)
	}
	list = append(list, mark{what: "5 or 10 % less, the slow sessions' pairs with the sides exchanged", want: "never a regression",
		got: got, met: wrong == 0, enough: len(slow) > 0})
	w := mark{what: fmt.Sprintf("two runs of %d windows compared", mostWindows), want: fmt.Sprintf("under %d s", windowSeconds)}
	if r.Windows != nil {
		w.got = fmt.Sprintf("%.2f s, after %.2f s of reading them", r.Windows.Seconds, r.Windows.Open)
		w.met, w.enough = r.Windows.Seconds < windowSeconds, true
	}
	return append(list, w)
}

// groups are the services whose sessions count together: twenty of the gateway, and twenty of the plain services, half of
// them each.
var groups = []struct {
	name     string
	services []string
}{
	{gatewayService, services[:1]},
	{"plain services", services[1:]},
}

// realMark is a mark of a group's real sessions, with each service's own count where there are several.
func (r *results) realMark(name string, members []string, w wanted) mark {
	right, all, enough, own := 0, 0, true, []string{}
	for _, service := range members {
		sessions := r.of(service, w.kind)
		n := count(sessions, w.right)
		right, all = right+n, all+len(sessions)
		enough = enough && len(sessions)*len(members) >= w.sessions
		own = append(own, fmt.Sprintf("%s %s", service, cmp.Or(part(n, len(sessions)), "none")))
	}
	got, most := part(right, all), max(w.sessions, all)
	if len(members) > 1 && all > 0 {
		got += fmt.Sprintf(" (%s)", strings.Join(own, ", "))
	}
	return mark{what: fmt.Sprintf("%s, %s", name, w.what), want: w.want, got: got, met: w.met(right, all), enough: enough,
		lost: !w.met(right, most) && !w.met(right+most-all, most)}
}

// wanted is a mark of real sessions.
type wanted struct {
	kind, what, want string
	sessions         int // that make a mark
	right            func(trial) bool
	met              func(n, all int) bool
}

// wantedReal are the marks of real sessions, for each group of services.
var wantedReal = []wanted{
	{"aa", "identical sides", "no regression", 20, is(verify.Regression, soonEnough), func(n, _ int) bool { return n == 0 }},
	{"aa", "identical sides", "pass in at least 19 of 20", 20, is(verify.Pass, soonEnough), atLeast(19)},
	{"slow5", "5 % slower", "regression in at least 19 of 20", 20, is(verify.Regression, soonEnough), atLeast(19)},
	{"slow3", "3 % slower", "regression in at least half", 20, is(verify.Regression, soonEnough), atLeast(10)},
	{"slow10", "10 % slower", "regression within 2 minutes in all", 10, is(verify.Regression, soonest), atLeast(20)},
	{"fast5", "5 % faster", "no regression", 20, is(verify.Regression, soonEnough), func(n, _ int) bool { return n == 0 }},
	{"fast5", "5 % faster", "improvement in at least 17 of 20", 20, is(verify.Improvement, soonEnough), atLeast(17)},
}

// is accepts sessions with a verdict, reached within so many seconds.
func is(v verify.Verdict, within float64) func(trial) bool {
	return func(t trial) bool { return t.Verdict == v && t.Seconds <= within }
}

// atLeast accepts as large a part as so many of 20.
func atLeast(of20 int) func(n, all int) bool {
	return func(n, all int) bool { return 20*n >= of20*all }
}

// wantedSimulated are the marks of simulated sessions: for a change in CPU per request, the lowest
// and the highest share of them that may end with a verdict.
var wantedSimulated = []struct {
	slower      float64
	verdict     verify.Verdict
	least, most float64
}{
	{0, verify.Regression, 0, 0.01}, {0, verify.Pass, 0.95, 1}, {0.05, verify.Regression, 0.95, 1}, {0.03, verify.Regression, 0.5, 1},
	{-0.05, verify.Regression, 0, 0}, {-0.05, verify.Improvement, 0.85, 1},
}

// leastSimulated sessions make a mark.
const leastSimulated = 500

func (r *results) simulatedMarks() (list []mark) {
	for _, noise := range []string{drawnNoise, recordedNoise} {
		for _, w := range wantedSimulated {
			i := slices.IndexFunc(r.Simulated, func(s simulation) bool { return s.Noise == noise && s.Slower == w.slower })
			if i < 0 {
				continue
			}
			s := r.Simulated[i]
			n := s.Verdicts[w.verdict]
			asked := fmt.Sprintf("%s in at least %.0f %%", w.verdict, 100*w.least)
			if w.least == 0 {
				asked = fmt.Sprintf("%s in at most %.0f %%", w.verdict, 100*w.most)
			}
			share := float64(n) / float64(max(1, s.Sessions))
			list = append(list, mark{what: fmt.Sprintf("simulated from %s, side b %s", noise, sizeOf(s.Slower)), want: asked,
				got: part(n, s.Sessions), met: share >= w.least && share <= w.most, enough: s.Sessions >= leastSimulated})
		}
	}
	return list
}

// sizeOf puts a change of CPU per request into words.
func sizeOf(slower float64) string {
	switch {
	case slower > 0:
		return fmt.Sprintf("%.0f %% slower", 100*slower)
	case slower < 0:
		return fmt.Sprintf("%.0f %% faster", -100*slower)
	}
	return "identical"
}

func count(list []trial, f func(trial) bool) (n int) {
	for _, t := range list {
		if f(t) {
			n++
		}
	}
	return n
}

func part(n, all int) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", n, all)
}

func (r *results) writeSimulated(b *strings.Builder) {
	if len(r.Simulated) == 0 {
		return
	}
	s := r.Simulated[0]
	fmt.Fprintf(b, "\n## Simulated sessions\n\nAt most %d pairs in each, as many as fit into five minutes on this machine, "+
		"decided like a real session. Their noise is either drawn from the components of the %d recorded pairs of identical "+
		"sides, or taken from these pairs in runs of %d. A change multiplies side b's CPU per request, and its throughput "+
		"falls by half as much.\n\n", s.Pairs, s.Recorded, stretch)
	line(b, "noise", "side b", "sessions", "regression", "pass", "improvement", "inconclusive", "pairs (median)", "by the first pairs")
	line(b, "---", "---", "---", "---", "---", "---", "---", "---", "---")
	for _, s := range r.Simulated {
		line(b, s.Noise, sizeOf(s.Slower), fmt.Sprint(s.Sessions), fmt.Sprint(s.Verdicts[verify.Regression]),
			fmt.Sprint(s.Verdicts[verify.Pass]), fmt.Sprint(s.Verdicts[verify.Improvement]), fmt.Sprint(s.Verdicts[verify.Inconclusive]),
			fmt.Sprint(s.Typical), fmt.Sprint(s.Early))
	}
}

func (r *results) writeSessions(b *strings.Builder) {
	for _, service := range services {
		for _, k := range kinds {
			if list := r.of(service, k.name); len(list) > 0 {
				fmt.Fprintf(b, "\n## %s%s, %s: %s\n\n", strings.ToUpper(service[:1]), service[1:], k.title,
					notation.Counted(int64(len(list)), "session", ""))
				r.writeKind(b, list)
			}
		}
	}
	b.WriteByte('\n')
}

func (r *results) writeKind(b *strings.Builder, list []trial) {
	if size, ok := realised(list); ok {
		fmt.Fprintf(b,
			"All pairs together: CPU per request %s, + is worse. One pair's difference has a standard deviation of "+
				"%.1f %%, by the median of deviations %.1f %%.\n\n",
			size.change, 100*size.sd, 100*size.spread)
	}
	line(b, "machine", "verdict", "CPU per request", "interval", "detectable", "throughput", "turn", "pairs", "look", "time")
	line(b, "---", "---", "---", "---", "---", "---", "---", "---", "---", "---")
	for _, t := range list {
		cpu, _ := t.metric(decides)
		throughput := "advisory"
		if m, ok := t.metric("throughput"); ok {
			throughput = fmt.Sprintf("%s, %+.1f %%", m.Verdict, 100*m.Estimate)
		}
		line(b, r.letter(t.Machine), reported(t), fmt.Sprintf("%s, %+.1f %%", cpu.Verdict, 100*cpu.Estimate),
			fmt.Sprintf("%+.1f to %+.1f %%", 100*cpu.Low, 100*cpu.High),
			fmt.Sprintf("%.1f %%", 100*cpu.MDE), throughput,
			fmt.Sprint(t.Turn), fmt.Sprint(t.Pairs), fmt.Sprintf("%d of %d", t.Look, t.Looks), fmt.Sprintf("%.0f s", t.Seconds))
	}
}

func reported(t trial) string {
	if t.Verdict == verify.Inconclusive || t.Verdict == verify.Invalid {
		return fmt.Sprintf("%s (%s)", t.Verdict, t.Why)
	}
	return string(t.Verdict)
}

// size is the result of the pairs of many sessions together.
type size struct {
	change     string
	sd, spread float64
}

func realised(list []trial) (size, bool) {
	var d []float64
	for _, t := range list {
		for _, p := range pairs(t.Compared) {
			if a, b := p.A.Values[decides], p.B.Values[decides]; a > 0 && b > 0 {
				d = append(d, math.Log(b/a))
			}
		}
	}
	estimate, low, high, ok := stat.SignedRankInterval(d, 0.95)
	if !ok {
		return size{}, false
	}
	change := fmt.Sprintf("%+.1f %% (%+.1f to %+.1f %% at 95 %%)", 100*math.Expm1(estimate), 100*math.Expm1(low), 100*math.Expm1(high))
	return size{change, stat.Deviation(d), stat.Spread(d)}, true
}

func line(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
