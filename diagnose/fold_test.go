package diagnose_test

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/record/findings"
)

// TestChainOfConsequencesIsReported: what follows from a consequence is reported by the finding at the end of the chain, and none
// is lost on the way.
func TestChainOfConsequencesIsReported(t *testing.T) {
	for _, order := range [][3]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		chain := [3]diagnose.Analyzer{
			finds("look-ups", cause("look-ups"), 1.3, findings.High),
			finds("churn", cause("churn", "look-ups"), 1.5, findings.High),
			finds("call", cause("call", "churn"), 1.8, findings.High),
		}
		found := ExpectAll(t, []diagnose.Analyzer{chain[order[0]], chain[order[1]], chain[order[2]]}, Idle(), "look-ups")
		if len(found) != 1 {
			continue
		}
		f := found[0]
		for _, id := range []string{"churn", "call"} {
			if !strings.Contains(f.Title, "the "+id) {
				t.Errorf("%v: %s is not told: %s", order, id, f.Title)
			}
		}
		if len(f.Evidence) != 3 || len(f.Rejected) != 2 {
			t.Errorf("%v: %d facts and %d causes that follow", order, len(f.Evidence), len(f.Rejected))
		}
	}
}

// TestLeakKeepsItsRoot: a cause that gains next to nothing now is reported all the same if something that grows follows from it, which
// would otherwise be lost with it.
func TestLeakKeepsItsRoot(t *testing.T) {
	for grows, want := range map[bool][]string{true: {"churn"}, false: nil} {
		leak := cause("leak", "churn")
		leak.Grows = grows
		suite := []diagnose.Analyzer{finds("churn", cause("churn"), 1.02, findings.High), finds("leak", leak, 1, findings.High)}
		if found := ExpectAll(t, suite, Idle(), want...); len(found) == 1 && !strings.Contains(found[0].Title, "the leak") {
			t.Errorf("it is not told: %s", found[0].Title)
		}
	}
}

// Of two findings that may each be the other's consequence, the one that promises more remains.
func TestMutualConsequencesLeaveOne(t *testing.T) {
	a, b := finds("a", cause("a", "b"), 2, findings.High), finds("b", cause("b", "a"), 2.2, findings.High)
	ExpectAll(t, []diagnose.Analyzer{a, b}, Idle(), "b")
	ExpectAll(t, []diagnose.Analyzer{b, a}, Idle(), "b")
}

// A cause that follows from no function does not follow from an unknown one either.
func TestUnknownPlaceIsNoRootOfWhatFollowsFromNone(t *testing.T) {
	queue := finds("queue", cause("queue", "root"), 2, findings.High)
	run := queue.Run
	queue.Run = func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		p.Reached("queue", nil)
		return run(p)
	}
	ExpectAll(t, []diagnose.Analyzer{queue, finds("root", cause("root"), 3, findings.High)}, Idle(), "root", "queue")
}

// A finding whose place is unknown covers what another finds at its statement, not whatever else has no place.
func TestUnknownPlaceCoversItsStatementOnly(t *testing.T) {
	covered := cause("wait")
	covered.CoveredBy = []string{"statement"}
	wait := finds("wait", covered, 2, findings.High)
	at := func(sql string) diagnose.Analyzer {
		a := finds("statement", cause("statement"), 3, findings.High)
		run := a.Run
		a.Run = func(p *diagnose.Pass) ([]diagnose.Finding, error) {
			found, err := run(p)
			p.Cover(found[0], sql)
			return found, err
		}
		return a
	}
	run := wait.Run
	wait.Run = func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		found, err := run(p)
		found[0].Where.SQL = "UPDATE shows"
		return found, err
	}
	ExpectAll(t, []diagnose.Analyzer{wait, at("UPDATE shows")}, Idle(), "statement")
	ExpectAll(t, []diagnose.Analyzer{wait, at("")}, Idle(), "statement", "wait")
	ExpectAll(t, []diagnose.Analyzer{wait, at("SELECT 1")}, Idle(), "statement", "wait")
}
