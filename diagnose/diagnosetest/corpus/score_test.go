package corpus

import (
	"errors"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/findings"
)

func finding(cause, function string, share float64, c findings.Confidence) findings.Finding {
	return findings.Finding{Cause: cause, Share: share, ShareOf: "request time", Confidence: c, GainCeiling: 2,
		Where: findings.Where{Function: function, File: "/src/main.go", Line: 41, SQL: "SELECT *\n FROM t WHERE id = $1"}}
}

func TestScore(t *testing.T) {
	lock := finding("lock-contention", "main.(*book).credit", 0.8, findings.High)
	sleep := finding("sleep", "main.pause", 0.3, findings.Medium)
	hint := finding("cpu-map", "main.count", 0.2, findings.Low)
	wantLock := Expect{Cause: "lock-contention", Where: []string{"(*book).credit"}, Share: []float64{0.6, 1}}
	sick := Case{Kind: Sick, Findings: []Expect{wantLock}}
	other := Case{Kind: Sick, Findings: []Expect{{Cause: "sleep", Or: []string{"lock-contention"}, Where: []string{"(*book).credit"}}}}
	pair := Case{Kind: Pair, Findings: []Expect{wantLock, {Cause: "sleep", Where: []string{"main.go:41"}}}}
	sql := Case{Kind: Sick, Findings: []Expect{{Cause: "lock-contention", Where: []string{"select * from t"}}}}
	elsewhere := Case{Kind: Sick, Findings: []Expect{{Cause: "lock-contention", Where: []string{"main.go:7"}, Share: []float64{0, 0.5}}}}
	for _, c := range []struct {
		name         string
		c            Case
		found        []findings.Finding
		first, three bool
		where, share string // "yes", "no", ""
		false        int
		why          string
	}{
		{"right", sick, []findings.Finding{lock}, true, true, "yes", "yes", 0, ""},
		{"right in other words", other, []findings.Finding{lock}, true, true, "yes", "", 0, ""},
		{"right, with a hint beside", sick, []findings.Finding{lock, hint}, true, true, "yes", "yes", 0, ""},
		{"right, with another", sick, []findings.Finding{lock, sleep}, true, true, "yes", "yes", 1, ""},
		{"second", sick, []findings.Finding{sleep, lock}, false, true, "yes", "yes", 1, "lock-contention is not first"},
		{"fourth", sick, []findings.Finding{hint, hint, hint, lock}, false, false, "yes", "yes", 0, "not among the first three"},
		{"silent", sick, nil, false, false, "no", "no", 0, "not first"},
		{"elsewhere", elsewhere, []findings.Finding{lock}, true, true, "no", "no", 0, "placed at main.(*book).credit main.go:41"},
		{"by a shape of its type", Case{Kind: Sick, Findings: []Expect{{Cause: "lock-contention", Where: []string{"(*kept[...]).get"}}}},
			[]findings.Finding{finding("lock-contention", "shop.test/tolls.(*kept[go.shape.struct { shop.test/tolls.Boat }]).get", 0.8,
				findings.High)}, true, true, "yes", "", 0, ""},
		{"by statement", sql, []findings.Finding{lock}, true, true, "yes", "", 0, ""},
		{"both of a pair", pair, []findings.Finding{lock, sleep}, true, true, "yes", "yes", 0, ""},
		{"a pair the wrong way round", pair, []findings.Finding{sleep, lock}, false, true, "yes", "yes", 0, "not first"},
		{"half a pair", pair, []findings.Finding{lock}, true, false, "no", "yes", 0, "sleep is not among"},
		{"quiet and well", Case{Kind: Healthy}, []findings.Finding{hint}, true, true, "", "", 0, ""},
		{"false alarm", Case{Kind: Healthy}, []findings.Finding{sleep}, false, false, "", "", 1, "healthy, but redline reported sleep"},
	} {
		r := Score(c.c, findings.Findings{Findings: c.found})
		if r.First != c.first || r.InFirstThree != c.three || yes(r.Where) != c.where || yes(r.Share) != c.share ||
			len(r.False) != c.false {
			t.Errorf("%s: %+v (where %s, share %s)", c.name, r, yes(r.Where), yes(r.Share))
		}
		if why := strings.Join(r.Why, "; "); r.OK() != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: why %q, want %q", c.name, why, c.why)
		}
	}
}

func yes(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "yes"
	}
	return "no"
}

// TestLedgersAreCounted: both halves must add up, and a half that is missing does not.
func TestLedgersAreCounted(t *testing.T) {
	half := func(sum, lost float64) []findings.LedgerEntry {
		return []findings.LedgerEntry{{Who: "on CPU", Share: sum - lost}, {Who: findings.Unattributed, Share: lost}}
	}
	var table Table
	for _, l := range []*findings.Ledger{
		{RequestTime: half(1, 0.05), CPU: half(1.005, 0)}, // correct
		{RequestTime: half(0.98, 0), CPU: half(1, 0)},
		{RequestTime: half(1, 0), CPU: half(1, 0.06)},
		{RequestTime: half(1, 0)},
		nil, // neither was measured
	} {
		table.Count(Score(Case{Kind: Healthy}, findings.Findings{Ledger: l}))
	}
	if table.Ledgers != 4 || table.AddUp != 2 || table.Attributed != 2 {
		t.Errorf("%d ledgers, %d add up, %d name who: want 4, 2 and 2", table.Ledgers, table.AddUp, table.Attributed)
	}
}

// TestTable: marks are shares of the counted cases, and a false alarm on a healthy service
// fails however good the rest is.
func TestTable(t *testing.T) {
	ok, no := true, false
	right := Result{Kind: Sick, First: true, InFirstThree: true, Where: &ok, Share: &no}
	late := Result{Kind: Sick, InFirstThree: true, Where: &ok}
	var table Table
	for range 39 {
		table.Count(right)
	}
	table.Count(late)
	table.Count(Result{Kind: Healthy, First: true})
	if !table.Met() || table.First != 39 || table.Cases != 40 || table.Placed != 40 || table.Ranged != 39 || table.Share != 0 {
		t.Errorf("39 of 40 first: %+v", table)
	}
	accused := table
	accused.Count(Result{Kind: Healthy, False: make([]findings.Finding, 2)})
	if accused.Met() || accused.Alarmed != 1 || accused.Alarms != 2 {
		t.Errorf("with a false alarm: %+v", accused)
	}
	broken := table
	broken.Count(Broken(Case{Kind: Healthy}, errors.New("does not build")))
	if broken.Met() || broken.Alarmed != 0 {
		t.Errorf("with a case that was not judged: %+v", broken)
	}
	table.Count(late)
	if table.Met() {
		t.Errorf("39 of 41 first meets the mark: %+v", table)
	}
}
