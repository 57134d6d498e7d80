package corpus

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/findings"
)

// firstFew is how many findings a run prints; hardly anyone reads later ones.
const firstFew = 3

// Result is the score of redline's findings on a case.
type Result struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Held bool   `json:"held,omitempty"` // not used in development
	// Wanted is the weightiest cause that should be named; empty when healthy.
	Wanted string `json:"wanted,omitempty"`
	// First: the weightiest wanted cause was named first. For a healthy case:
	// nothing was found with confidence.
	First bool `json:"first"`
	// InFirstThree: all wanted causes are among the first three.
	InFirstThree bool `json:"in_first_three"`
	// Where and Share say whether all wanted findings are at the right place and
	// within their range; nil when the case wants none.
	Where *bool `json:"where,omitempty"`
	Share *bool `json:"share,omitempty"`
	// False are findings of medium confidence or more that are not wanted. For a
	// healthy case each is a false alarm; for a sick one they are counted separately.
	False []findings.Finding `json:"false,omitempty"`
	// Ledger is how the run's ledger adds up; nil without one.
	Ledger *Ledgers `json:"ledger,omitempty"`
	// Broken is a case that could not be run or assessed: it meets no mark.
	Broken bool `json:"broken,omitempty"`
	// Reported describes the findings, first to last; Why what is wrong with them, empty if
	// nothing is.
	Reported []string `json:"said"`
	Why      []string `json:"why,omitempty"`
}

// OK reports whether nothing is wrong.
func (r Result) OK() bool { return len(r.Why) == 0 }

// Broken is the result of a case that could not be run or assessed.
func Broken(c Case, err error) Result {
	r := Score(c, findings.Findings{})
	r.Broken, r.First, r.InFirstThree = true, false, false
	r.Why = []string{fmt.Sprintf("could not be judged: %v", err)}
	return r
}

// Score scores the findings on a case.
func Score(c Case, found findings.Findings) Result {
	r := Result{Name: c.Name, Kind: c.Kind, Held: c.Held, First: true, InFirstThree: true, Ledger: ledgersOf(found.Ledger)}
	// A note on the measurement comes after everything that limits the service.
	found.Findings = slices.Concat(found.Findings, found.Notes)
	for _, f := range found.Findings {
		r.Reported = append(r.Reported, words(f))
		if !c.wants(f.Cause) && f.Confidence != findings.Low {
			r.False = append(r.False, f)
		}
	}
	if c.Kind == Healthy {
		for _, f := range r.False {
			r.First, r.InFirstThree = false, false
			r.miss("healthy, but redline reported %s", words(f))
		}
		return r
	}
	r.Wanted = c.Findings[0].Cause
	for i, e := range c.Findings {
		r.expect(i, e, found.Findings)
	}
	return r
}

// wants reports whether a cause is expected of the case.
func (c Case) wants(cause string) bool {
	for _, e := range c.Findings {
		if e.Is(cause) {
			return true
		}
	}
	return false
}

// expect scores the i-th wanted finding.
func (r *Result) expect(i int, e Expect, found []findings.Finding) {
	if i == 0 && (len(found) == 0 || !e.Is(found[0].Cause)) {
		r.First = false
		r.miss("%s is not first", e.Cause)
	}
	at := -1
	for n, f := range found {
		if e.Is(f.Cause) && (at < 0 || !matches(e, found[at]) && matches(e, f)) {
			at = n
		}
	}
	if at < 0 || at >= firstFew {
		r.InFirstThree = false
		r.miss("%s is not among the first three", e.Cause)
	}
	if len(e.Where) > 0 {
		ok := at >= 0 && matches(e, found[at])
		r.Where = both(r.Where, ok)
		if !ok && at >= 0 {
			r.miss("%s is placed at %s, not at %s", e.Cause, place(found[at].Where), strings.Join(e.Where, " or "))
		}
	}
	if len(e.Share) == 2 {
		ok := at >= 0 && found[at].Share >= e.Share[0] && found[at].Share <= e.Share[1]
		r.Share = both(r.Share, ok)
		if !ok && at >= 0 {
			r.miss("%s has a share of %.2f, not of %.2f to %.2f", e.Cause, found[at].Share, e.Share[0], e.Share[1])
		}
	}
}

func (r *Result) miss(format string, args ...any) {
	r.Why = append(r.Why, fmt.Sprintf(format, args...))
}

func both(before *bool, ok bool) *bool {
	ok = ok && (before == nil || *before)
	return &ok
}

// matches reports whether a finding's place is a wanted one.
func matches(e Expect, f findings.Finding) bool {
	w := f.Where
	places := []string{callstack.Elided(w.Function), fmt.Sprintf("%s:%d", w.File, w.Line), spaced(w.SQL), w.Detail}
	for _, want := range e.Where {
		for _, p := range places {
			if strings.Contains(strings.ToLower(p), strings.ToLower(spaced(want))) {
				return true
			}
		}
	}
	return len(e.Where) == 0
}

// spaced makes each run of white space one blank, in which alone statements may differ.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// words writes a finding in one line.
func words(f findings.Finding) string {
	return fmt.Sprintf("%s at %s (%.0f %% of %s, gain %.2f, %s)", f.Cause, place(f.Where), 100*f.Share, f.ShareOf,
		f.GainCeiling, f.Confidence)
}

func place(w findings.Where) string {
	const longest = 60
	cut := func(s string) string {
		if runes := []rune(spaced(s)); len(runes) > longest {
			return string(runes[:longest]) + "..."
		}
		return spaced(s)
	}
	switch {
	case w.Function != "":
		return fmt.Sprintf("%s %s:%d", callstack.Short(w.Function), path.Base(w.File), w.Line)
	case w.SQL != "":
		return cut(w.SQL)
	case w.Detail != "":
		return cut(w.Detail)
	}
	return "no place"
}
