package corpus

// Marks that the diagnosis must meet, as shares of the cases.
const (
	MarkFirst        = 0.97 // the right cause first
	MarkFirstHeld    = 0.92 // that of the cases that are held back
	MarkInFirstThree = 1.0
	MarkWhere        = 0.97
	MarkQuiet        = 0.99 // healthy services without a false alarm
	// MarkAddsUp is the share of ledgers that add up to the whole, and MarkAttributed that
	// of those which leave at most 5 % of it unattributed.
	MarkAddsUp     = 1.0
	MarkAttributed = 0.95
)

// Table counts results. The zero value is empty.
type Table struct {
	// Sick cases, pairs among them.
	Cases, First, InFirstThree int
	// Those of them for which a place, and a range of the share, is wanted.
	Placed, Where, Ranged, Share int
	// Healthy services, those of them with a false alarm, and false alarms.
	Healthy, Alarmed, Alarms int
	// Extra counts further findings of medium confidence or more on sick cases.
	Extra int
	// Ledgers are runs with a ledger, AddUp those whose halves add up to the whole, and
	// Attributed those which leave at most 5 % of each unattributed.
	Ledgers, AddUp, Attributed int
	// Broken counts cases that could not be run or assessed, which meet no mark.
	Broken int
}

// Count adds a result.
func (t *Table) Count(r Result) {
	add(&t.Broken, r.Broken)
	if r.Ledger != nil {
		t.Ledgers++
		add(&t.AddUp, r.Ledger.adds())
		add(&t.Attributed, r.Ledger.attributed())
	}
	if r.Kind == Healthy {
		t.Healthy++
		t.Alarms += len(r.False)
		add(&t.Alarmed, len(r.False) > 0)
		return
	}
	t.Cases++
	t.Extra += len(r.False)
	add(&t.First, r.First)
	add(&t.InFirstThree, r.InFirstThree)
	if r.Where != nil {
		t.Placed++
		add(&t.Where, *r.Where)
	}
	if r.Share != nil {
		t.Ranged++
		add(&t.Share, *r.Share)
	}
}

func add(n *int, yes bool) {
	if yes {
		*n++
	}
}

// Met reports whether the counts meet all marks.
func (t Table) Met() bool {
	return reaches(t.First, t.Cases, MarkFirst) && reaches(t.InFirstThree, t.Cases, MarkInFirstThree) &&
		reaches(t.Where, t.Placed, MarkWhere) &&
		reaches(t.AddUp, t.Ledgers, MarkAddsUp) && reaches(t.Attributed, t.Ledgers, MarkAttributed) &&
		reaches(t.Healthy-t.Alarmed, t.Healthy, MarkQuiet) && t.Broken == 0
}

// reaches reports whether n of all is at least the mark; it is if all is 0.
func reaches(n, all int, mark float64) bool { return float64(n) >= mark*float64(all) }
