package report_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/reporttest"
)

func textOf(t *testing.T, s *record.Summary, o report.TextOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Text(&out, s, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// withLedger is a sick run whose finding has a long statement, and in which each part of
// the summary has something to say.
func withLedger() *record.Summary {
	s := reporttest.Sick()
	s.Findings[0].Title = "Reading all 18,000 rows of tracks takes 91 % of request time at handlers_by_folder.go:186; " +
		"therefore requests wait for a database connection (83 % of request time), and the CPUs of the host are used up too, " +
		"as far as the service may use them"
	s.Findings[0].Remedy = strings.Repeat("Raise SetMaxOpenConns from 10 towards 32, where the CPU is used up. ", 5)
	s.Findings[0].Remedy = strings.TrimSpace(s.Findings[0].Remedy)
	s.Findings[0].Evidence[0].Text = strings.TrimSpace(strings.Repeat("24.7 ms of the median request's 28.4 ms pass there. ", 4))
	s.Findings[0].Where.SQL = strings.Repeat("SELECT albums.*, count(tracks.id) FROM albums LEFT JOIN tracks ON tracks.album_id ", 9)
	s.Ledger = &findings.Ledger{
		RequestTime: []findings.LedgerEntry{{Who: "database connection from the pool", Share: 0.87}, {Who: "on CPU", Share: 0.13}},
		Path:        []findings.LedgerPath{{Share: 0.87, Text: strings.Repeat("waiting for the database in store.(*Store).Orders ", 9)}},
	}
	return s
}

// TestFirstScreen: who sees the first 24 lines of 80 cells knows what stops the service,
// where, what it is worth, and the first evidence, without a word that breaks off
// where there is room.
func TestFirstScreen(t *testing.T) {
	s := withLedger()
	lines := strings.Split(textOf(t, s, report.TextOptions{Width: 80}), "\n")
	screen := strings.Join(strings.Fields(strings.Join(lines[:24], " ")), " ")
	for _, want := range []string{s.Findings[0].Title, "store/orders.go:112", "worth about 7.69x", s.Findings[0].Remedy,
		s.Findings[0].Evidence[0].Text} {
		if !strings.Contains(screen, want) {
			t.Errorf("the first screen lacks %q:\n%s", want, strings.Join(lines[:24], "\n"))
		}
	}
	wide := strings.Split(textOf(t, s, report.TextOptions{Width: 300}), "\n")
	if !strings.Contains(wide[1], s.Findings[0].Title) {
		t.Errorf("with 300 cells of room the title is\n%s", wide[1])
	}
}

// TestOrderOfTheSummary: findings, load, ledger, sources.
func TestOrderOfTheSummary(t *testing.T) {
	s := withLedger()
	text := textOf(t, s, report.TextOptions{})
	at := -1
	for _, part := range []string{"What stops it", "closed loop @", "Requests/sec:", "p99 < 42ms", "Where a request's time goes",
		"Request time by kind:", "not judged:", "2 sources", "warning:", "bundle"} {
		next := strings.Index(text, part)
		if next <= at {
			t.Errorf("%q stands at %d, what comes before it at %d:\n%s", part, next, at, text)
		}
		at = next
	}
}

// TestSourcesAreFolded: a line for those that delivered, and one that failed with its
// reason; --all shows each.
func TestSourcesAreFolded(t *testing.T) {
	s := reporttest.Sick()
	s.Sources[0].Why = "flight recorder: off"
	text := textOf(t, s, report.TextOptions{})
	for _, want := range []string{"✓  2 sources, clocks aligned within 130 µs (p99); remarks on goruntime: --all\n",
		"✗  postgres: pg_stat_statements is not installed (to enable: add it to\n   shared_preload_libraries"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "flight recorder") {
		t.Errorf("a remark pushes the rest away:\n%s", text)
	}
	if all := textOf(t, s, report.TextOptions{All: true}); !strings.Contains(all, "goruntime: flight recorder: off") ||
		!strings.Contains(all, "aligned within p50") {
		t.Errorf("--all lacks the sources:\n%s", all)
	}
	s.Sources = slices.Delete(s.Sources, 1, 3)
	s.Sources[0].Why = ""
	if text := textOf(t, s, report.TextOptions{}); !strings.Contains(text, "✓  1 source, clocks aligned within 48.0 µs (p99)\n") {
		t.Errorf("one source:\n%s", text)
	}
	s.Sources[0] = record.SourceHealth{Name: "runtime", Why: "the target does not answer"}
	if text := textOf(t, s, report.TextOptions{}); strings.Contains(text, "✓  ") && strings.Contains(text, "source,") ||
		!strings.Contains(text, "✗  runtime: the target does not answer\n") {
		t.Errorf("no source:\n%s", text)
	}
}

// TestAnswerIsOnTheLastScreen: a terminal shows the end of a long summary, and the
// answer is there too; it is not said twice where all of it is seen.
func TestAnswerIsOnTheLastScreen(t *testing.T) {
	invalid := withLedger()
	invalid.Generator.Valid, invalid.Generator.WhyInvalid = false, []string{"schedule lag p99 41 ms"}
	for want, s := range map[string]*record.Summary{
		"In short: Requests wait for a database connection, at store/orders.go:112: worth about 7.69x.": reporttest.Sick(),
		"In short: INVALID: schedule lag p99 41 ms.":                                                    invalid,
		"In short: Nothing found that stops it.":                                                        reporttest.Healthy(),
	} {
		text := textOf(t, s, report.TextOptions{Width: 120, Height: 24})
		lines := strings.Split(text, "\n")
		if last := strings.Join(lines[len(lines)-24:], "\n"); !strings.Contains(last, want) {
			t.Errorf("the last screen lacks %q:\n%s", want, last)
		}
		for _, height := range []int{0, len(lines) + 1} {
			if text := textOf(t, s, report.TextOptions{Width: 120, Height: height}); strings.Contains(text, "In short") {
				t.Errorf("height %d has the answer twice", height)
			}
		}
	}
	named := reporttest.Sick()
	named.Findings[0].Title += " at orders.go:112"
	if text := textOf(t, named, report.TextOptions{Width: 200, Height: 24}); strings.Contains(text, ", at store/orders.go:112") {
		t.Errorf("the place is said twice:\n%s", text)
	}
}

// TestTextKeepsToItsWidth: no line is wider than the terminal, and no name breaks at a hyphen.
func TestTextKeepsToItsWidth(t *testing.T) {
	all := variants()
	all["ledger"] = withLedger()
	for name, s := range all {
		s.Target.URL = "http://127.0.0.1:4747/rest/getAlbumList.view?u=admin&" + strings.Repeat("type=alphabetical&", 5)
		for width := 40; width <= 200; width++ {
			text := textOf(t, s, report.TextOptions{Width: width})
			for line := range strings.SplitSeq(text, "\n") {
				if n := ansi.StringWidth(line); n > width && !strings.HasPrefix(line, "bundle ") {
					t.Errorf("%s, width %d: a line of %d cells: %q", name, width, n, line)
				}
				if strings.HasSuffix(line, "-") {
					t.Errorf("%s, width %d: a name breaks off: %q", name, width, line)
				}
			}
		}
	}
}

// TestNotJudgedIsShort: dozens of causes without a trace take a few lines, and --all
// names each.
func TestNotJudgedIsShort(t *testing.T) {
	s := reporttest.Healthy()
	for i := range 50 {
		s.NotJudged = append(s.NotJudged, findings.NotJudged{Cause: fmt.Sprintf("cause-%d", i), Why: "no requests were taken apart"})
	}
	for i := range 9 {
		s.NotJudged = append(s.NotJudged, findings.NotJudged{Cause: fmt.Sprintf("other-%d", i), Why: fmt.Sprintf("reason %d", i)})
	}
	text := textOf(t, s, report.TextOptions{})
	_, lines, _ := strings.Cut(text, "not judged: ")
	lines, _, _ = strings.Cut(lines, "\n\n")
	if n := strings.Count(lines, "\n") + 1; n > 4 {
		t.Errorf("%d lines:\n%s", n, lines)
	}
	flat := strings.Join(strings.Fields(lines), " ")
	if !strings.HasPrefix(flat, "cause-0, cause-1, cause-2 and 47 more (no requests were taken apart); other-0 (reason 0)") ||
		!strings.HasSuffix(flat, "; and 1 more") {
		t.Errorf("got %q", flat)
	}
	if all := textOf(t, s, report.TextOptions{All: true}); !strings.Contains(all, "cause-49") || !strings.Contains(all, "other-8") {
		t.Errorf("--all leaves causes out:\n%s", all)
	}
}
