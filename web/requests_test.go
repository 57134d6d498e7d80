package web_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web"
)

// TestTenThousandRequestsInBrowser: only the rows in sight are made, and a lower bound keeps its sign.
func TestTenThousandRequestsInBrowser(t *testing.T) {
	t.Parallel()
	s := reporttest.Sick()
	s.Load.Latency.AtLeast = 99
	s.Load.Steps = nil
	for i := range 10_000 {
		s.Load.Steps = append(s.Load.Steps, record.StepSummary{Name: fmt.Sprintf("GET /item/%05d", i),
			Requests: int64(20_000 - i),
			Latency:  histogram.Quantiles{P50: int64(1e6 + i), P99: 5e6, Max: 10e9, AtLeast: 99.9}})
	}
	var b bytes.Buffer
	must(t, web.Report(&b, reporttest.Bundle(t, reporttest.Options{}), s))
	seen := show(t, "requests", b.String(), ".request-row:not(.head)", "#requests .note", ".quantiles tr",
		".figures dd")
	rows := seen.Texts[".request-row:not(.head)"]
	if len(rows) == 0 || len(rows) > 40 || !strings.HasPrefix(rows[0], "GET /item/00000") ||
		!strings.Contains(rows[0], "≥ 10.0 s") {
		t.Errorf("%d rows are made, the first %q", len(rows), rows)
	}
	if notes := seen.Texts["#requests .note"]; len(notes) == 0 || notes[0] != "10,000 requests" {
		t.Errorf("notes %q", notes)
	}
	if table := strings.Join(seen.Texts[".quantiles tr"], "\n"); !strings.Contains(table, "99 %≥ 91.0 ms") ||
		!strings.Contains(table, "50 %28.4 ms") || !strings.Contains(table, "mean≥ ") {
		t.Errorf("percentiles:\n%s", table)
	}
	if figures := seen.Texts[".figures dd"]; len(figures) < 5 || figures[1] != "28.4 ms" || figures[3] != "≥ 91.0 ms" {
		t.Errorf("figures of the headline: %q", figures)
	}
}

// TestPageSaysWhatTheCommandLineSays: the figures of the page are in the text that the command line prints for the
// same bundle, to the digit.
func TestPageSaysWhatTheCommandLineSays(t *testing.T) {
	s := reporttest.Sick()
	s.Load.Latency.AtLeast, s.Thresholds[0].AtLeast = 99, true
	rec := reporttest.Bundle(t, reporttest.Options{})
	var html, text bytes.Buffer
	must(t, web.Report(&html, rec, s))
	must(t, report.Text(&text, s, report.TextOptions{All: true, Width: 120}))
	seen := show(
		t,
		"same",
		html.String(),
		".quantiles tr:not(:last-child) td:nth-child(2)",
		".threshold-table td:nth-child(3)",
		".weigh span",
	)
	count := 0
	for selector, figures := range seen.Texts {
		for _, figure := range figures {
			if count++; !strings.Contains(text.String(), figure) {
				t.Errorf("%s: the command line does not say %q", selector, figure)
			}
		}
	}
	if count < 12 {
		t.Errorf("only %d figures", count)
	}
}
