package demo

import (
	"strings"

	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/service/gateway"
)

// choice is the remedy that a finding calls for.
type choice struct {
	remedy  gateway.Remedy
	finding findings.Finding
}

// choose returns the remedy that the best-ranked finding calls for, among those
// not taken yet. No remedy means that no finding calls for any of them.
func choose(found []findings.Finding, remedies []gateway.Remedy, taken map[string]bool) (choice, bool) {
	for _, last := range []bool{false, true} {
		for _, f := range found {
			for _, r := range remedies {
				if r.Last == last && !taken[r.Name] && cures(r, f) {
					return choice{r, f}, true
				}
			}
		}
	}
	return choice{}, false
}

func cures(r gateway.Remedy, f findings.Finding) bool {
	for _, cause := range r.Cures {
		if cause == f.Cause {
			return matches(r, f)
		}
	}
	return false
}

func matches(r gateway.Remedy, f findings.Finding) bool {
	if len(r.Match) == 0 {
		return true
	}
	path := strings.ToLower(strings.Join([]string{
		f.Where.Function, f.Where.File, f.Where.SQL, f.Where.Detail, f.Title,
	}, "\n"))
	for _, m := range r.Match {
		if strings.Contains(path, strings.ToLower(m)) {
			return true
		}
	}
	return false
}
