package web_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/experiment"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/web"
)

// labPage is the page of one result and one ladder.
func labPage(t *testing.T, evil string) string {
	t.Helper()
	results := experiment.Results{
		Host: record.Host{CPUModel: "EPYC" + evil, CPUs: 2, OS: "linux", Kernel: "6.18"}, Go: "go1.26.8",
		Results: []experiment.Result{{
			ID: "E-atomic", Claim: "E-atomic", Factor: 3, Metric: "sec/op" + evil,
			Gain:    experiment.Gain{Estimate: 3.1, Low: 2.9, High: 3.4},
			Verdict: experiment.Confirmed, Why: "so" + evil,
		}},
	}
	against := func(a, b, gain float64, clear bool) *ladder.Comparison {
		return &ladder.Comparison{Changes: []ladder.Change{{Metric: ladder.Throughput, A: a, B: b, Gain: gain,
			Low: gain * 0.9, High: gain * 1.1, Clear: clear}}}
	}
	climbed := ladder.Result{Ladder: ladder.Order, Go: "go1.26.8", Rungs: []ladder.Rung{
		{Step: ladder.Step{Name: "as found" + evil}, Rate: 700, P50: 1e6, P95: 2e6, P99: 3e6},
		{Step: ladder.Step{Name: "index", Finding: "db-missing-index" + evil}, Rate: 2900, Against: against(800,
			3200, 4, true)},
		{Step: ladder.Step{Name: "pool"}, Rate: 2900, Against: against(3200, 3230, 1.01, false)},
	}}
	var b bytes.Buffer
	must(t, web.Lab(&b, experiment.Suite(), results, []ladder.Result{climbed}))
	return b.String()
}

func TestLabInBrowser(t *testing.T) {
	t.Parallel()
	s := show(t, "lab", labPage(t, ""), "h1", ".rungs th[scope=row]", ".rungs .rung-rate b",
		".rungs .interval span", ".rungs .interval svg", ".marks li", "#E-atomic .interval span",
		"#E-atomic .claimed", "#E-atomic .fate", ".claims tbody tr", ".lead")
	verdicts := regexp.MustCompile(`: 1 confirmed, \d+ settled by other commands, \d+ not run\.$`)
	if lead := s.Texts[".lead"]; len(lead) != 1 || !verdicts.MatchString(lead[0]) {
		t.Errorf("summary %q", lead)
	}
	if !slices.Equal(s.Texts[".rungs th[scope=row]"], []string{"as found", "index", "pool"}) ||
		!slices.Equal(s.Texts[".rungs .rung-rate b"], []string{"800.0", "3,200", "3,230"}) {
		t.Errorf("rungs %q at %q", s.Texts[".rungs th[scope=row]"], s.Texts[".rungs .rung-rate b"])
	}
	if got := s.Texts[".rungs .interval span"]; !slices.Equal(got, []string{"", "4.00x (3.60x to 4.40x)",
		"within the noise (0.91x to 1.11x)"}) || len(s.Texts[".rungs .interval svg"]) != 2 {
		t.Errorf("gains %q", got)
	}
	if marks := s.Texts[".marks li"]; len(marks) != 3 || !strings.Contains(marks[0], "claimed 15.8x") {
		t.Errorf("marks %q", marks)
	}
	if !slices.Equal(s.Texts["#E-atomic .interval span"], []string{"3.10x (2.90x to 3.40x), sec/op"}) ||
		len(s.Texts["#E-atomic .claimed"]) != 1 ||
		!slices.Equal(s.Texts["#E-atomic .fate"], []string{"confirmed"}) {
		t.Errorf("claim: %q, %q", s.Texts["#E-atomic .interval span"], s.Texts["#E-atomic .fate"])
	}
	if want := len(experiment.Rows(experiment.Suite(),
		experiment.Results{})); len(s.Texts[".claims tbody tr"]) != want {
		t.Errorf("%d claims, want %d", len(s.Texts[".claims tbody tr"]), want)
	}
}

func TestHostileLabInBrowser(t *testing.T) {
	t.Parallel()
	evil := `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">` + "\u202e"
	html := labPage(t, evil)
	if s := show(t, "lab-hostile", html); s.Title == "owned" || strings.Contains(html, "<img") {
		t.Error("a text of the results ran as script")
	}
}

func TestDemoLadderInBrowser(t *testing.T) {
	t.Parallel()
	l := report.NewLadder("",
		report.Step{Step: "as found", QPS: 800, P50: 1e6, P95: 2e6, P99: 3e6},
		report.Step{Step: "index", Finding: "db-missing-index", QPS: 3000, Gain: 3.9, GainLow: 3.5, GainHigh: 4.2},
	)
	var b bytes.Buffer
	must(t, web.Ladder(&b, l))
	s := show(t, "demo", b.String(), ".rungs .interval span", ".rungs code")
	if !slices.Equal(s.Texts[".rungs .interval span"], []string{"", "3.90x (3.50x to 4.20x)"}) ||
		!slices.Equal(s.Texts[".rungs code"], []string{"db-missing-index"}) {
		t.Errorf("%q", s.Texts)
	}
}
