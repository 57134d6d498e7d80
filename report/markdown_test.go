package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/reporttest"
)

func markdownOf(t *testing.T, s *record.Summary) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Markdown(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var folds = regexp.MustCompile(`(?s)<details>.*?</details>`)

// TestMarkdownIsShort: what a pull request shows unopened is the finding in ten lines and
// one table; the rest is folded, not lost.
func TestMarkdownIsShort(t *testing.T) {
	s := withLedger()
	whole := markdownOf(t, s)
	shown := folds.ReplaceAllString(whole, "")
	lines, rules := 0, 0
	for line := range strings.SplitSeq(shown, "\n") {
		if strings.HasPrefix(line, "| -") {
			rules++
		}
		if line != "" && !strings.HasPrefix(line, "|") {
			lines++
		}
	}
	if lines > 10 || rules != 1 {
		t.Errorf("%d lines and %d tables:\n%s", lines, rules, shown)
	}
	for _, want := range []string{"## What stops it: Reading all 18,000 rows", "- **where** `store.(*Store).Orders store/orders.go:112",
		"worth about 7.69x", "- **do** Raise", "- **seen** 24.7 ms", "| **2,071** | 62,134 | 12 (0.02 %) | 28.4 ms | 49.1 ms |",
		"✗ `p99 < 42ms`: 91.0 ms; ✗ `p99_9 < 2s`: no data; ✓ `errors", "Bundle: `runs/"} {
		if !strings.Contains(shown, want) {
			t.Errorf("unopened it lacks %q:\n%s", want, shown)
		}
	}
	for _, want := range []string{"### 4. Logging", "Not judged: db-slow-query", "| 95 % | 58.3 ms | 58.2 ms |", "| order | 12,134 |",
		"Request time by kind: 87 %", "| ✗ | postgres | 0 |", "- warning: the target logs"} {
		if !strings.Contains(whole, want) || strings.Contains(shown, want) {
			t.Errorf("%q is not folded:\n%s", want, whole)
		}
	}
	if n := strings.Count(whole, "</summary>\n\n"); n != 4 || strings.Count(whole, "\n\n</details>\n") != 4 {
		t.Errorf("%d folds whose text GitHub reads as Markdown, want 4:\n%s", n, whole)
	}
	if empty := markdownOf(t, &record.Summary{State: record.Complete}); strings.Contains(empty, "All findings") {
		t.Errorf("a fold of nothing:\n%s", empty)
	}
}

// TestMarkdownIsInert: names of a service do not format, link, mention, close a fold, end a
// cell or begin a line.
func TestMarkdownIsInert(t *testing.T) {
	const evil = "</details><script>x</script> | `code` ``more`` [link](http://evil.example/) ![i](//e) www.evil.example a@evil.example " +
		"@octocat/team #1 **bold** ~~gone~~ $a$\n\n# heading\n- item\n```\nfence"
	s := withLedger()
	s.Findings[0] = findings.Finding{Rank: 1, Cause: evil, Title: evil, Share: 1, ShareOf: evil, GainCeiling: 2, Then: evil, Remedy: evil,
		Confidence: findings.Confidence(evil), Where: findings.Where{Function: evil, File: evil, SQL: evil, Detail: evil},
		Evidence: []findings.Evidence{{Text: evil, Source: evil}}, Rejected: []findings.Rejected{{Cause: evil, Why: evil}}}
	s.Run, s.State, s.Target.URL, s.Load.Protocol, s.Load.Model = evil, record.State(evil), evil, evil, evil
	s.Sources[0].Name, s.Sources[0].Why, s.Warnings[0] = evil, evil, evil
	s.Thresholds[0].Expr, s.Load.ErrorKinds[evil], s.Load.Status[evil] = evil, 1, 1
	s.NotJudged[0] = findings.NotJudged{Cause: evil, Why: evil}
	s.Generator.Valid, s.Generator.WhyInvalid = false, []string{evil}
	s.Ledger.Path[0].Text, s.Ledger.RequestTime[0].Who = evil, evil
	s.Load.Steps[0].Name, s.Load.Checks[0].Name, s.Load.Checks[0].Request = evil, evil, evil
	text := markdownOf(t, s)
	// Within code spans nothing acts; a span of these fences holds evil's longest run of backticks.
	spans := regexp.MustCompile("(?m)(````) .*? (````)")
	bare := spans.ReplaceAllString(text, "CODE")
	for _, acts := range []string{"</details><", "<script", "http://", "www.", "a@e", "@octo", "#1", "**bold", "~~gone", "$a",
		"[link](", "![i]"} {
		at := strings.Index(bare, acts)
		if acts == "~~gone" || acts == "$a" || acts == "**bold" || acts == "[link](" || acts == "![i]" {
			at = unescaped(bare, acts)
		}
		if at >= 0 {
			t.Errorf("%q acts: %s", acts, bare[max(0, at-60):min(len(bare), at+60)])
		}
	}
	columns := 0
	for line := range strings.SplitSeq(text, "\n") {
		for _, begins := range []string{"# heading", "- item", "```", "fence"} {
			if strings.HasPrefix(line, begins) {
				t.Errorf("a line of its own: %q", line)
			}
		}
		if strings.HasPrefix(line, "| -") {
			columns = strings.Count(line, "|")
		} else if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "| per") && columns > 0 {
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if n != columns && !strings.Contains(line, "| ---") && !head(line) {
				t.Errorf("%d bars in a row of %d: %q", n, columns, line)
			}
		}
	}
	if strings.Count(text, "<details>") != strings.Count(text, "</summary>\n") {
		t.Error("a name opens or closes a fold")
	}
}

// head reports whether a line is the head of one of the tables, whose rule follows.
func head(line string) bool {
	for _, begin := range []string{"| requests/s", "| percentile", "| request |", "|  | request |", "|  | source |"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}

// unescaped returns where what stands without a backslash before it, or -1.
func unescaped(text, what string) int {
	for at := 0; ; {
		i := strings.Index(text[at:], what)
		if i < 0 {
			return -1
		}
		if at += i; at == 0 || text[at-1] != '\\' {
			return at
		}
		at++
	}
}

// TestMarkdownLeadsWithReservations: figures that are not the service's say so before the
// finding.
func TestMarkdownLeadsWithReservations(t *testing.T) {
	s := reporttest.Sick()
	s.Generator.Valid, s.Generator.WhyInvalid = false, []string{"its CPU was used up"}
	if text := markdownOf(t, s); !strings.HasPrefix(text, "> **INVALID**: its CPU was used up\n") {
		t.Errorf("begins with %q", text[:80])
	}
}
