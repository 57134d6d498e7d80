package experiment

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestClaimsPageIsComplete: docs/claims.md has a row with a verdict for each experiment and each
// claim that another verb settles, and explains what is not as the reports have it.
func TestClaimsPageIsComplete(t *testing.T) {
	page, err := os.ReadFile("../docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	table, rest, ok := strings.Cut(string(page), "\n## Tested by another command\n")
	elsewhere, explained, found := strings.Cut(rest, "\n## Where the verdict differs from the report, and why\n")
	if !ok || !found {
		t.Fatal("its two sections are missing")
	}
	rows := map[string][]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) == 7 {
			rows[strings.TrimPrefix(cells[0], "| ")] = cells
		}
	}
	verdicts := []Verdict{Confirmed, Smaller, NoEffect, Reversed, Inconclusive, NotHere}
	for _, r := range Rows(Suite(), Results{}) {
		cells := rows[r.ID()]
		switch {
		case cells == nil:
			t.Errorf("%s has no row (redline lab report --format md)", r.ID())
		case r.Experiment == nil:
			if !strings.HasPrefix(cells[5], "see redline ") || !strings.Contains(elsewhere, "\n| "+r.ID()+" |") {
				t.Errorf("%s: %q, and no row among those settled by another verb", r.ID(), cells[5])
			}
		case !slices.Contains(verdicts, Verdict(cells[5])):
			t.Errorf("%s has the verdict %q", r.ID(), cells[5])
		case slices.Contains([]Verdict{Smaller, NoEffect, Reversed}, Verdict(cells[5])) && !strings.Contains(explained, r.Claim.ID):
			t.Errorf("%s is %s, which is not explained", r.ID(), cells[5])
		}
		delete(rows, r.ID())
	}
	for id := range rows {
		if id != "experiment" {
			t.Errorf("the row %s is of no experiment", id)
		}
	}
}
