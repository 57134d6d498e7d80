package demo

import (
	"strings"

	"github.com/redline-go/redline/record"
)

// Remedy is one switch of the gateway, as `gateway remedies --json` lists it.
type Remedy struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Env   string   `json:"env"`
	On    string   `json:"on"`    // the value that switches it on
	Cures []string `json:"cures"` // the causes it removes
	// Match narrows a cure to findings whose where or title contains one of
	// these; empty takes any place.
	Match []string `json:"match"`
	// Last marks a remedy that is taken only when no finding calls for another:
	// it would hide what the others cure.
	Last bool `json:"last"`
}

// choice is the remedy that a finding calls for.
type choice struct {
	remedy  Remedy
	finding record.Finding
}

// choose returns the remedy that the best-ranked finding calls for, among those
// not taken yet. No remedy means that no finding calls for any of them.
func choose(findings []record.Finding, remedies []Remedy, taken map[string]bool) (choice, bool) {
	for _, last := range []bool{false, true} {
		for _, f := range findings {
			for _, r := range remedies {
				if r.Last == last && !taken[r.Name] && r.cures(f) {
					return choice{r, f}, true
				}
			}
		}
	}
	return choice{}, false
}

func (r Remedy) cures(f record.Finding) bool {
	for _, cause := range r.Cures {
		if cause == f.Cause {
			return r.matches(f)
		}
	}
	return false
}

func (r Remedy) matches(f record.Finding) bool {
	if len(r.Match) == 0 {
		return true
	}
	place := strings.ToLower(strings.Join([]string{
		f.Where.Function, f.Where.File, f.Where.SQL, f.Where.Detail, f.Title,
	}, "\n"))
	for _, m := range r.Match {
		if strings.Contains(place, strings.ToLower(m)) {
			return true
		}
	}
	return false
}
