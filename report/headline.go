package report

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
)

// Headline answers what stops a service, as a page says it before anything else.
type Headline struct {
	Invalid string `json:"invalid"` // why the run is invalid; empty when it is not
	State   string `json:"state"`   // the fate of it and of its answers; empty when it is complete and they are as expected
	Title   string `json:"title"`
	Lead    string `json:"lead"`
	Found   bool   `json:"found"`
	// Path says where a request's time goes, and Shares how much of it each way takes.
	Path   []string `json:"path,omitempty"`
	Shares []string `json:"shares,omitempty"`
	// Ledger accounts for all of the request time and the CPU, a sentence each.
	Ledger []string `json:"ledger,omitempty"`
}

// HeadlineOf returns the headline of a summary.
func HeadlineOf(s *record.Summary) Headline {
	h := Headline{Invalid: invalid(s), Found: len(s.Findings) > 0, State: strings.Join(reservations(s), " ")}
	if !h.Found {
		h.Title, h.Lead = nothing(s)
	} else if h.Title = hints(s); h.Title != "" {
		h.Lead = fmt.Sprintf("%s: %s", notation.Clean(s.Findings[0].Title), Weight(&s.Findings[0]))
	} else {
		h.Title, h.Lead = notation.Clean(s.Findings[0].Title), Weight(&s.Findings[0])
	}
	h.Shares, h.Path = pathLines(s)
	h.Ledger = ledger(s)
	return h
}
