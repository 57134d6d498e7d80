package assess

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/diagnosetest"
)

// TestGuarded has a rule that panics: its cause is not judged, with the line, and the next one is judged.
func TestGuarded(t *testing.T) {
	rule := func(id string, run func(*diagnose.Pass) ([]diagnose.Finding, error)) diagnose.Analyzer {
		return diagnose.Analyzer{Name: id, Doc: "d", Run: run,
			Causes: []diagnose.Cause{{ID: id, Title: "The " + id, Doc: "d", Remedy: "r"}}}
	}
	judged := false
	rec, a := diagnosetest.Idle().Open(t)
	found, err := diagnose.Run(rec, a, guarded([]diagnose.Analyzer{
		rule("wrong", func(*diagnose.Pass) ([]diagnose.Finding, error) {
			var none []diagnose.Finding
			return none[1:], nil
		}),
		rule("right", func(*diagnose.Pass) ([]diagnose.Finding, error) { judged = true; return nil, nil }),
	}))
	if err != nil || !judged {
		t.Fatalf("the next rule is not judged: %v", err)
	}
	if len(found.NotJudged) != 1 || found.NotJudged[0].Cause != "wrong" {
		t.Fatalf("not judged: %+v", found.NotJudged)
	}
	why := found.NotJudged[0].Why
	if !strings.HasPrefix(why, Bug+" (guard_test.go:") || !strings.Contains(why, "slice bounds out of range") {
		t.Errorf("not judged because %q", why)
	}
}
