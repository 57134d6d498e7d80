// Package diagnosetest is the test kit for analyzers. A test takes three things: a
// fixture that says what was observed, the analyzer, and what it must name.
//
//	b := diagnosetest.Healthy().Wait(breakdown.StateLock, 8*time.Millisecond, 1, "sync.(*Mutex).Lock", "shop/cache.(*Cache).Get@cache.go:41")
//	diagnosetest.Expect(t, wait.Lock, b, "lock-contention at cache.go:41")
//
// Fixtures are built (Builder) or are recorded bundles (Dir, Packed). Each is a real
// bundle on disk, opened as redline opens it, so that the analyzers read what a run
// writes.
package diagnosetest

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
)

// Fixture provides a record and its anatomy, which is nil if there is none.
type Fixture interface {
	Open(t testing.TB) (*record.Record, *breakdown.Anatomy)
}

// Dir is a recorded bundle with its anatomy.json.
type Dir string

// Open opens the bundle.
func (d Dir) Open(t testing.TB) (*record.Record, *breakdown.Anatomy) {
	t.Helper()
	rec, err := record.Open(string(d))
	if err != nil {
		t.Fatal(err)
	}
	var a breakdown.Anatomy
	switch err := rec.ReadJSON(breakdown.File, &a); {
	case errors.Is(err, fs.ErrNotExist):
		return rec, nil
	case err != nil:
		t.Fatal(err)
	}
	return rec, &a
}

// Expect runs one analyzer alone over a fixture and fails unless it names
// exactly the wanted causes, in order of rank. A want is a cause, or "cause at
// file.go:12" if the place matters; no wants means that nothing may be found.
// It returns the findings for further checks.
func Expect(t testing.TB, a diagnose.Analyzer, from Fixture, want ...string) []findings.Finding {
	t.Helper()
	return ExpectAll(t, Alone(a), from, want...)
}

// Alone returns analyzers without their relations to others of the suite.
func Alone(list ...diagnose.Analyzer) []diagnose.Analyzer {
	var names, causes []string
	for _, a := range list {
		names = append(names, a.Name)
		for _, c := range a.Causes {
			causes = append(causes, c.ID)
		}
	}
	strange := func(known []string) func(string) bool {
		return func(name string) bool { return !slices.Contains(known, name) }
	}
	for i := range list {
		a := &list[i]
		a.After, a.Causes = slices.DeleteFunc(slices.Clone(a.After), strange(names)), slices.Clone(a.Causes)
		for j := range a.Causes {
			c := &a.Causes[j]
			c.FollowsFrom = slices.DeleteFunc(slices.Clone(c.FollowsFrom), strange(causes))
			c.CoveredBy = slices.DeleteFunc(slices.Clone(c.CoveredBy), strange(causes))
		}
	}
	return list
}

// ExpectAll runs a whole suite over a fixture; otherwise like Expect.
func ExpectAll(t testing.TB, suite []diagnose.Analyzer, from Fixture, want ...string) []findings.Finding {
	t.Helper()
	out := assess(t, suite, from)
	var got []string
	all := reported(out)
	for i, f := range all {
		check(t, f, i)
		text := f.Cause
		if i < len(want) && strings.Contains(want[i], " at ") {
			text = fmt.Sprintf("%s at %s:%d", f.Cause, path.Base(f.Where.File), f.Where.Line)
		}
		got = append(got, text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q%s", got, want, explain(out))
	}
	return all
}

// reported returns the findings, followed by the notes on the measurement.
func reported(out findings.Findings) []findings.Finding {
	all := slices.Concat(out.Findings, out.Notes)
	for i := range all {
		all[i].Rank = i + 1
	}
	return all
}

// ExpectFirst runs a whole suite over a fixture and checks the first finding
// only; an empty want means that nothing may be found.
func ExpectFirst(t testing.TB, suite []diagnose.Analyzer, from Fixture, want string) findings.Findings {
	t.Helper()
	out := assess(t, suite, from)
	got := ""
	for i, f := range reported(out) {
		check(t, f, i)
		if i == 0 {
			got = f.Cause
		}
	}
	if got != want {
		t.Errorf("first finding is %q, want %q%s", got, want, explain(out))
	}
	return out
}

// ExpectUnjudged fails unless the causes are reported as not judged, and nothing
// is found.
func ExpectUnjudged(t testing.TB, a diagnose.Analyzer, from Fixture, causes ...string) {
	t.Helper()
	a.After = nil
	for i := range a.Causes {
		a.Causes = slices.Clone(a.Causes)
		a.Causes[i].FollowsFrom, a.Causes[i].CoveredBy = nil, nil
	}
	out := assess(t, []diagnose.Analyzer{a}, from)
	var got []string
	for _, n := range out.NotJudged {
		if n.Why == "" {
			t.Errorf("%s is not judged without a reason", n.Cause)
		}
		got = append(got, n.Cause)
	}
	if len(out.Findings) != 0 || !slices.Equal(got, causes) {
		t.Errorf("not judged %q with %d findings, want %q and none%s", got, len(out.Findings), causes, explain(out))
	}
}

func assess(t testing.TB, suite []diagnose.Analyzer, from Fixture) findings.Findings {
	t.Helper()
	rec, a := from.Open(t)
	out, err := diagnose.Run(rec, a, suite)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// check checks that a finding has what the contract promises its readers: a rank, a
// title on one line, evidence, a remedy, a share of something and a gain within
// bounds.
func check(t testing.TB, f findings.Finding, i int) {
	t.Helper()
	switch {
	case f.Rank != i+1:
		t.Errorf("%s has rank %d at place %d", f.Cause, f.Rank, i+1)
	case f.Title == "" || strings.Contains(f.Title, "\n") || strings.Contains(f.Title, "NaN"):
		t.Errorf("%s has the title %q", f.Cause, f.Title)
	case f.Remedy == "" || len(f.Evidence) == 0:
		t.Errorf("%s lacks a remedy or evidence", f.Cause)
	case !(f.Share >= 0 && f.Share <= 1) || f.ShareOf == "":
		t.Errorf("%s explains %v of %q", f.Cause, f.Share, f.ShareOf)
	case !(f.GainCeiling >= 1 && f.GainCeiling <= 50):
		t.Errorf("%s promises a gain of %v", f.Cause, f.GainCeiling)
	}
	for _, e := range f.Evidence {
		if e.Text == "" || e.Source == "" || e.Value != e.Value || strings.Contains(e.Text, "NaN") || strings.Contains(e.Text, "%!") {
			t.Errorf("%s has evidence %+v", f.Cause, e)
		}
	}
	if strings.Contains(f.Title+f.Remedy, "%!") {
		t.Errorf("%s is worded %q, %q", f.Cause, f.Title, f.Remedy)
	}
}

// explain describes the findings and the causes not judged, for a failing test.
func explain(out findings.Findings) string {
	var b strings.Builder
	for _, f := range out.Findings {
		fmt.Fprintf(&b, "\n  found %s (share %.2f of %s, gain %.2f, %s): %s", f.Cause, f.Share, f.ShareOf,
			f.GainCeiling, f.Confidence, f.Title)
	}
	for _, r := range out.Rejected {
		fmt.Fprintf(&b, "\n  rejected %s: %s", r.Cause, r.Why)
	}
	for _, n := range out.NotJudged {
		fmt.Fprintf(&b, "\n  not judged %s: %s", n.Cause, n.Why)
	}
	return b.String()
}
