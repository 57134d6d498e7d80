package gobench

import (
	"fmt"
	"math"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/verify"
)

// conclude makes the session's verdict from those of its benchmarks. Any regression
// is one. A benchmark that fails on a side, was not measured, or whose figure
// cannot move is never passed: otherwise deleting a benchmark would be the easiest
// way to a pass.
func (s *session) conclude(r *Report) {
	failed := 0
	for _, m := range r.Missing {
		if m.Failed {
			failed++
		}
	}
	s.warn(r)
	if len(s.sides) == 1 {
		r.Why = fmt.Sprintf("%s measured in %d rounds", plural(len(r.Benchmarks), "benchmark"), s.rounds)
		if failed > 0 {
			r.Why += fmt.Sprintf(", and %d failed", failed)
		}
		return
	}
	by := map[verify.Verdict][]string{}
	for i := range r.Benchmarks {
		b := &r.Benchmarks[i]
		if b.Verdict == verify.Pass && b.void() {
			b.Verdict, b.Metrics[0].Verdict = verify.Inconclusive, verify.Inconclusive
			b.Metrics[0].Why = "this figure does not depend on the code (see the traps)"
		}
		by[b.Verdict] = append(by[b.Verdict], b.Name)
	}
	worse, open, better := by[verify.Regression], by[verify.Inconclusive], by[verify.Improvement]
	switch {
	// In this order: what is worse is certain whatever else failed or is open, and
	// an improvement counts only if all is decided.
	case len(worse) > 0:
		r.Verdict, r.Why = verify.Regression, "worse: "+few(worse)
	case s.rounds == 0:
		r.Verdict, r.Why = verify.Inconclusive, "no round was made"
	case failed > 0:
		r.Verdict, r.Why = verify.Inconclusive, fmt.Sprintf("%s failed", plural(failed, "benchmark"))
	case len(open) > 0:
		r.Verdict, r.Why = verify.Inconclusive, "not decided: "+few(open)
	case len(r.Benchmarks) == 0:
		r.Verdict, r.Why = verify.Inconclusive, "no benchmark is on both sides"
	case len(better) > 0:
		r.Verdict, r.Why = verify.Improvement, "better: "+few(better)+", and nothing is worse"
	default:
		r.Verdict, r.Why = verify.Pass, "nothing is worse by its margin"
	}
}

// warn adds what limits the report: rounds that are missing, sources that no commit holds, a machine that is too noisy.
func (s *session) warn(r *Report) {
	if s.rounds < s.planned && len(s.list) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d planned rounds were made", s.rounds, s.planned))
	}
	if s.planned < s.o.Rounds && s.planned > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the time allows %d rounds of the %d asked for (hint: a longer "+
			"--max-time, a shorter --benchtime, or --bench for fewer benchmarks)", s.planned, s.o.Rounds))
	}
	for _, side := range r.Sides {
		if side.Dirty {
			r.Warnings = append(r.Warnings, fmt.Sprintf("side %s has uncommitted changes", side.Name))
		}
	}
	if len(s.sides) == 1 {
		return
	}
	// The tests are corrected for their number, so one that differs is chance at
	// most once in twenty sessions; more than one in ten is the machine.
	if n := len(r.AA.Different); n > 1+len(r.Benchmarks)/10 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("side a differed from itself in %d metrics: this machine "+
			"is too noisy for reliable verdicts", n))
	}
	if n := r.enough(); n > s.rounds {
		r.Warnings = append(r.Warnings, fmt.Sprintf("about %d rounds like these would detect changes of the "+
			"margin's size everywhere (hint: --rounds %d, or a longer --benchtime)", n, n))
	}
}

// mostRounds is the number of rounds beyond which asking for more is no advice.
const mostRounds = 500

// enough returns about how many rounds would bring the detectable change down to
// the margin, as it falls with their square root; 0 if nothing is undecided for
// that reason, or no reasonable number would do.
func (r *Report) enough() (n int) {
	for _, b := range r.Benchmarks {
		for _, m := range b.Metrics {
			if m.Verdict == verify.Inconclusive && !m.Advisory && m.MDE > m.Margin {
				n = max(n, int(math.Ceil(float64(r.Rounds)*math.Pow(m.MDE/m.Margin, 2))))
			}
		}
	}
	if n > mostRounds {
		return 0
	}
	return n
}

// void reports whether the benchmark's figure cannot move, whatever its code does.
func (b *Benchmark) void() bool {
	for _, t := range b.Traps {
		if t.Kind == Dropped {
			return true
		}
	}
	return false
}

// few lists names, at most six, and counts the others.
func few(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

func plural(n int, noun string) string { return notation.Counted(int64(n), noun, "") }
