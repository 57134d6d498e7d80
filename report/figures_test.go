package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/reporttest"
)

// TestOneSummaryHasOneSetOfFigures: terminal and Markdown print the same figures to the digit, and both those of
// summary.json, read back by somebody who has nothing else. The page's figures are held to the same summary by
// package web.
func TestOneSummaryHasOneSetOfFigures(t *testing.T) {
	rec := reporttest.Bundle(t, reporttest.Options{})
	bundled := &record.Summary{}
	if err := rec.ReadJSON(record.SummaryFile, bundled); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*record.Summary{"bundle": bundled, "ledger": withLedger()} {
		var stored bytes.Buffer
		if err := report.JSON(&stored, s); err != nil {
			t.Fatal(err)
		}
		read := &record.Summary{}
		if err := json.Unmarshal(stored.Bytes(), read); err != nil {
			t.Fatal(err)
		}
		text, markdown := textOf(t, read, report.TextOptions{All: true, Width: 160}), markdownOf(t, read)
		if text != textOf(t, s, report.TextOptions{All: true, Width: 160}) || markdown != markdownOf(t, s) {
			t.Errorf("%s: what summary.json keeps reads differently", name)
		}
		for what, row := range rowsOf(read) {
			if !hasRow(text, row) {
				t.Errorf("%s: %s: the terminal does not say %q", name, what, row)
			}
			if !hasRow(markdown, row) {
				t.Errorf("%s: %s: the Markdown does not say %q", name, what, row)
			}
		}
		for _, width := range []int{40, 80, 200} { // the width changes lines, never figures
			narrow := textOf(t, read, report.TextOptions{All: true, Width: width})
			for what, row := range rowsOf(read) {
				if what[:1] == "p" && !hasRow(narrow, row) {
					t.Errorf("%s: %s at %d cells: no %q", name, what, width, row)
				}
			}
		}
	}
}

// rowsOf returns the figures of a summary that stand beside each other, written from its fields.
func rowsOf(s *record.Summary) map[string][]string {
	l := &s.Load
	of := func(ns int64) string { return notation.Duration(ns) }
	rows := map[string][]string{
		"p50": {"50 %", of(l.Latency.P50), of(l.Service.P50)}, "p90": {"90 %", of(l.Latency.P90), of(l.Service.P90)},
		"p95": {"95 %", of(l.Latency.P95), of(l.Service.P95)}, "p99": {"99 %", of(l.Latency.P99), of(l.Service.P99)},
		"p99.9": {"99.9 %", of(l.Latency.P999), of(l.Service.P999)}, "max": {"max", of(l.Latency.Max), of(l.Service.Max)},
		"requests": {notation.Count(l.Requests)}, "errors": {notation.Count(l.Errors)},
	}
	for _, step := range l.Steps {
		rows["request "+step.Name] = []string{step.Name, notation.Count(step.Requests), notation.Count(step.Errors), of(step.Latency.P50),
			of(step.Latency.P99), of(step.Latency.Max)}
	}
	for i := range s.Findings {
		rows["finding "+s.Findings[i].Cause] = []string{report.Weight(&s.Findings[i])}
	}
	if s.Ledger != nil {
		for _, e := range s.Ledger.RequestTime {
			rows["ledger "+e.Who] = []string{notation.Percent(e.Share) + " " + e.Who}
		}
	}
	return rows
}

// hasRow reports whether a line holds the figures in this order, apart by nothing but blanks and bars.
func hasRow(text string, row []string) bool {
	want := " " + strings.Join(row, " ") + " "
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.NewReplacer("|", " ", "**", " ", ",", "", ".", ".").Replace(line)
		plain := strings.ReplaceAll(strings.Join(row, " "), ",", "")
		if strings.Contains(" "+strings.Join(strings.Fields(line), " ")+" ", strings.ReplaceAll(want, ",", "")) ||
			len(row) == 1 && strings.Contains(line, plain) {
			return true
		}
	}
	return false
}
