package report_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test ./report -update rewrites it)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func variants() map[string]*record.Summary {
	saturated := reporttest.Sick()
	saturated.Generator.Valid = false
	saturated.Generator.WhyInvalid = []string{"schedule lag p99 41 ms", "its CPU was used up (1.97 of 2)"}
	saturated.Load.Model, saturated.Load.IntendedRate = "open", 5000
	aborted := reporttest.Healthy()
	aborted.State = record.Aborted
	aborted.Generator.Valid, aborted.Generator.Validity = false, record.ValidityUnknown
	aborted.NotJudged = []findings.NotJudged{{Cause: "sleep", Why: "no trace"}}
	void := reporttest.Healthy()
	void.Generator.Valid, void.Generator.WhyInvalid = false, []string{"its CPU was used up"}
	busy := reporttest.Healthy()
	busy.CPU = &findings.CPUUse{CPUs: 2, Busy: 1.94, Full: true, Target: 1.07, Generator: 0.35}
	asks := reporttest.Healthy()
	asks.CPU = &findings.CPUUse{CPUs: 2, Busy: 1.94, Full: true, Target: 0.3, Generator: 0.35,
		Peers: []findings.PeerCPU{{Program: "maria\x1b[2Jdbd", Port: "3306", CPUs: 1.2}}}
	dead := &record.Summary{State: record.Aborted, Run: "runs/x", Load: record.LoadSummary{Errors: 0}}
	return map[string]*record.Summary{
		"sick":      reporttest.Sick(),
		"healthy":   reporttest.Healthy(),
		"saturated": saturated,
		"aborted":   aborted,
		"dead":      dead,
		"void":      void,
		"busy":      busy,
		"asks":      asks,
	}
}

func TestText(t *testing.T) {
	for name, s := range variants() {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := report.Text(&out, s, report.TextOptions{More: "redline report " + s.Run}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", out.Bytes())
		})
	}
}

func TestHead(t *testing.T) {
	var out bytes.Buffer
	if err := report.Head(&out, reporttest.Sick(), report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "head.txt", out.Bytes())
}

func TestTextAll(t *testing.T) {
	var out bytes.Buffer
	if err := report.Text(&out, reporttest.Sick(), report.TextOptions{All: true, Width: 100, Color: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "all.txt", out.Bytes())
}

// TestTextTellsTheSlowest: with all and the bundle at hand, and not without.
func TestTextTellsTheSlowest(t *testing.T) {
	rec := reporttest.Bundle(t, reporttest.Options{Evil: "x\x1b]0;owned\x07"})
	text := func(o report.TextOptions) string {
		var out bytes.Buffer
		if err := report.Text(&out, reporttest.Sick(), o); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const title = "The slowest traced requests"
	all := text(report.TextOptions{All: true, Record: rec, Width: 100})
	_, slowest, ok := strings.Cut(all, title)
	if !ok || !strings.Contains(slowest, "it waited for a free connection of the database pool") ||
		!strings.Contains(slowest, "\n 5  ") || strings.Contains(slowest, "\n 6  ") {
		t.Errorf("all of it:\n%s", all)
	}
	for line := range strings.SplitSeq(all, "\n") {
		if strings.ContainsAny(line, "\x1b\x07") || ansi.StringWidth(line) > 100 {
			t.Errorf("line %q", line)
		}
	}
	for _, o := range []report.TextOptions{{Record: rec}, {All: true}} {
		if strings.Contains(text(o), title) {
			t.Errorf("%+v shows the slowest", o)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for name, s := range variants() {
		var out bytes.Buffer
		if err := report.Markdown(&out, s); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".md", out.Bytes())
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := report.JSON(&out, reporttest.Sick()); err != nil {
		t.Fatal(err)
	}
	golden(t, "sick.json", out.Bytes())
	out.Reset()
	if err := report.JSON(&out, &record.Summary{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "null") {
		t.Errorf("an empty summary has a null list:\n%s", out.String())
	}
}

// TestFindingsAreWhole: nothing of what analyzers write breaks off, and what else
// stands in a bundle stays bounded.
func TestFindingsAreWhole(t *testing.T) {
	s := reporttest.Sick()
	var whole bytes.Buffer
	if err := report.Text(&whole, s, report.TextOptions{Width: 70}); err != nil {
		t.Fatal(err)
	}
	_, foundText, _ := strings.Cut(whole.String(), "What stops it\n")
	text := strings.Join(strings.Fields(foundText), " ")
	for _, f := range s.Findings[:3] { // more are counted
		if !strings.Contains(text, f.Title) || !strings.Contains(text, f.Remedy) {
			t.Errorf("%q or its remedy breaks off:\n%s", f.Title, foundText)
		}
	}
	long := strings.Repeat("a long remark of many words ", 40)
	for i := range s.Findings {
		f := &s.Findings[i]
		f.Title, f.Remedy, f.Where.Detail = long, long, long
		f.Evidence = []findings.Evidence{{Text: long}, {Text: long}}
		f.Rejected = []findings.Rejected{{Cause: "sleep", Why: long}}
	}
	var out bytes.Buffer
	if err := report.Text(&out, s, report.TextOptions{Width: 70}); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(out.String(), "What stops it\n")
	blocks := strings.Split(rest, "\n\n")
	for i, block := range blocks[:3] {
		if n := strings.Count(block, "\n") + 1; n > 4+4*6 {
			t.Errorf("finding %d takes %d lines:\n%s", i+1, n, block)
		}
	}
	for line := range strings.SplitSeq(out.String(), "\n") {
		if ansi.StringWidth(line) > 70 {
			t.Errorf("line is %d cells wide: %q", ansi.StringWidth(line), line)
		}
	}
}

func TestTextIsSafeForTerminals(t *testing.T) {
	s := reporttest.Sick()
	evil := "x\x1b]0;owned\x07\u202e\r\nfake: line\x9b31m\xff"
	s.Findings[0] = findings.Finding{
		Cause:      evil,
		Title:      evil,
		ShareOf:    evil,
		Share:      1,
		Remedy:     evil,
		Confidence: findings.Confidence(evil),
		Where:      findings.Where{Function: evil, File: evil, SQL: evil, Detail: evil},
		Evidence:   []findings.Evidence{{Text: evil, Source: evil}},
		Rejected:   []findings.Rejected{{Cause: evil, Why: evil}},
	}
	s.Run, s.State, s.Target.URL = evil, record.State(evil), evil
	s.Sources[0].Name, s.Sources[0].Why, s.Warnings[0] = evil, evil, evil
	s.Thresholds[0].Expr, s.Load.ErrorKinds[evil], s.Load.Status[evil] = evil, 1, 1
	s.NotJudged[0] = findings.NotJudged{Cause: evil, Why: evil}
	s.Generator.Valid, s.Generator.WhyInvalid = false, []string{evil}
	for _, write := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return report.Text(b, s, report.TextOptions{All: true}) },
		func(b *bytes.Buffer) error { return report.Markdown(b, s) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		for _, r := range out.String() {
			if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\ufffd' {
				t.Fatalf("control character %q in output", r)
			}
		}
		if strings.Contains(out.String(), "\nfake:") {
			t.Error("untrusted text started a line of its own")
		}
	}
}

func TestWriteErrors(t *testing.T) {
	full := errors.New("disk full")
	for name, err := range map[string]error{
		"text":     report.Text(broken{full}, reporttest.Sick(), report.TextOptions{}),
		"markdown": report.Markdown(broken{full}, reporttest.Sick()),
		"json":     report.JSON(broken{full}, reporttest.Sick()),
		"ladder":   report.NewLadder("x").Text(broken{full}, report.TextOptions{}),
	} {
		if !errors.Is(err, full) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestLadder(t *testing.T) {
	l := report.NewLadder("runs/demo/report.html",
		report.StepOf("as found", "", reporttest.Sick()),
		report.Step{Step: "index on orders(uid)", Finding: "db-slow-query", QPS: 5100, P50: 9e6, P95: 21e6, P99: 40e6},
		report.Step{Step: "keep connections", Finding: "db-pool-churn", QPS: 9800.5, P50: 5e6, P95: 11e6, P99: 14e6},
		report.Step{Step: "died", Finding: "cpu-json"})
	var text, js bytes.Buffer
	if err := l.Text(&text, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "ladder.txt", text.Bytes())
	if err := l.JSON(&js); err != nil {
		t.Fatal(err)
	}
	golden(t, "ladder.json", js.Bytes())
}

// TestLadderInTurns: a gain that was measured in turns is not computed anew from two runs,
// and one that is noise is not a factor.
func TestLadderInTurns(t *testing.T) {
	l := report.NewLadder("", report.Step{Step: "as found", QPS: 100},
		report.Step{Step: "pool", QPS: 500, Gain: 3.1, GainLow: 2.9, GainHigh: 3.4},
		report.Step{Step: "log", QPS: 600, Gain: 1.01, GainLow: 0.97, GainHigh: 1.05, Noise: true})
	var text bytes.Buffer
	if err := l.Text(&text, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"3.10x (2.90x to 3.40x)      5.00x", "within the noise (0.97x to 1.05x)      6.00x", "both running side by side",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// A source that nobody asked for is not mentioned; it is no failure.
func TestSourcesNotAskedForAreQuiet(t *testing.T) {
	s := reporttest.Sick()
	s.Sources = append(s.Sources, record.SourceHealth{Name: "spans-unasked", Why: "name an address", NotAsked: true})
	for _, write := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return report.Text(b, s, report.TextOptions{All: true}) },
		func(b *bytes.Buffer) error { return report.Markdown(b, s) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "unasked") || !strings.Contains(out.String(), "postgres") {
			t.Errorf("sources told wrongly:\n%s", out.String())
		}
	}
}

// TestUnexpectedAnswersComeFirst: nobody should read what stops a service whose
// answers are mostly errors before reading that.
func TestUnexpectedAnswersComeFirst(t *testing.T) {
	s := reporttest.Sick()
	s.Load.Status, s.Load.ErrorKinds = map[string]int64{"200": 14_000, "404": 48_000, "500": 134}, map[string]int64{"status": 48_134}
	s.Load.Errors, s.Load.Unexpected = 48_134, 48_134
	const want = "77 % of the answers had a status that the scenario does not expect: 404 48,000, 500 134."
	var text, markdown bytes.Buffer
	if err := report.Text(&text, s, report.TextOptions{Width: 200}); err != nil {
		t.Fatal(err)
	}
	if err := report.Markdown(&markdown, s); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"text": text.String(), "Markdown": markdown.String()} {
		at, finding := strings.Index(got, want), strings.Index(got, "Requests wait for a database connection")
		if at < 0 || finding < at {
			t.Errorf("%s does not begin with the unexpected answers:\n%s", name, got)
		}
	}
	s.Load.Unexpected = 600 // not 1 %
	text.Reset()
	if err := report.Text(&text, s, report.TextOptions{}); err != nil || strings.Contains(text.String(), "does not expect") {
		t.Errorf("less than one in 100 is told as a headline, or %v:\n%s", err, text.String())
	}
}
