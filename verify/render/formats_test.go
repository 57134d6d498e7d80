package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/verify"
)

// mixed is a result with one metric of every kind.
func mixed() verify.Result {
	return verify.Result{
		Schema: verify.Schema, Verdict: verify.Regression, Why: "worse: cpu_per_request", Pairs: 24,
		Alpha: 0.02, Looks: 2, Planned: 4, Warnings: []string{"restless"},
		AA: verify.AA{Pairs: 8, FalsePositive: 0.004, MDE: 0.021, Different: []string{}},
		Metrics: []verify.MetricResult{
			{Name: "cpu_per_request", Estimate: 0.061, Low: 0.04, High: 0.08, Margin: 0.05, Verdict: verify.Regression, MDE: 0.02, A: 120e3, B: 127e3, Unit: "ns"},
			{Name: "throughput", Estimate: 0.01, Low: -0.02, High: 0.06, Margin: 0.05, Verdict: verify.Inconclusive, MDE: 0.07, A: 9000, B: 8900, Unit: "1/s", Why: "100 % <sure> | not"},
			{Name: "p99", Estimate: 0.4, Low: 0.2, High: 0.6, Margin: 0.25, Verdict: verify.Regression, Advisory: true, A: 4e6, B: 6e6, Unit: "ns"},
			{Name: "rss", Margin: 0.1, Verdict: verify.Inconclusive, Advisory: true, Unit: "bytes", Why: "the target does not deliver it"},
			{Name: "bytes_per_request", Margin: 0.05, Verdict: verify.Pass, A: 5200, B: 5200, Unit: "bytes"},
		},
	}
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	text := written(t, func(w io.Writer) error { return Text(w, mixed()) })
	for _, want := range []string{
		"REGRESSION: worse: cpu_per_request\n", "6.1 % worse (4.0 to 8.0)", "120 µs", "9,000/s", "5.08 KiB", "not known",
		"regression (advisory)", "24 pairs of launches, one side up at a time; look 2 of 4; false-regression " +
			"rate by design: at most 1 % per session",
		"24 pairs detect changes of 2.1 %, and 0.4 % of simulated sessions", "warning: restless",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestIntervalsNameTheirConfidence: an early look's interval may reach beyond the margin of a metric that
// passed, whose bound is then printed as well.
func TestIntervalsNameTheirConfidence(t *testing.T) {
	r, worst := mixed(), 0.031
	r.Verdict, r.Confidence, r.Metrics = verify.Pass, 0.99934, []verify.MetricResult{{Name: "cpu_per_request", Estimate: -0.163,
		Low: -0.29, High: 0.225, Margin: 0.05, Verdict: verify.Pass, A: 120e3, B: 127e3, Unit: "ns", Worst: &worst}}
	if text := written(t, func(w io.Writer) error { return Text(w, r) }); !strings.Contains(text,
		"each interval holds at 99.934 %; at 97.5 %, worse by at most: cpu_per_request 3.1 %") {
		t.Errorf("got\n%s", text)
	}
}

// TestOwnScale: what can be detected of throughput and what is excluded are of itself, as its change is.
func TestOwnScale(t *testing.T) {
	r, worst := mixed(), 0.25
	r.Verdict, r.Confidence, r.AA.MDE = verify.Pass, 0.98, 1.0/9
	r.Metrics = []verify.MetricResult{{Name: "throughput", Higher: true, Margin: 0.3, Verdict: verify.Pass, A: 9000, B: 8900, Unit: "1/s",
		MDE: 1, Worst: &worst}}
	text := written(t, func(w io.Writer) error { return Text(w, r) })
	for _, want := range []string{"  50.0 %  ", "worse by at most: throughput 20.0 %", "detect changes of 10.0 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestChangesInWords: one direction for all metrics, and the metric's own size for one where more is better.
func TestChangesInWords(t *testing.T) {
	for _, c := range []struct {
		higher              bool
		estimate, low, high float64
		want                string
	}{
		{false, 0.061, 0.04, 0.08, "6.1 % worse (4.0 to 8.0)"},
		{false, -0.658, -0.696, -0.617, "65.8 % better (61.7 to 69.6)"},
		{true, -0.39024, -0.5, -0.2, "64.0 % better (25.0 to 100)"},
		{true, 0.25, 1. / 9, 3. / 7, "20.0 % worse (10.0 to 30.0)"},
		{false, 0.006, -0.021, 0.033, "0.6 % worse (2.1 better to 3.3 worse)"},
		{false, -0.006, -0.021, 0.033, "0.6 % better (3.3 worse to 2.1 better)"},
		{false, 0.0001, -0.02, 0.02, "no change (2.0 better to 2.0 worse)"},
		{false, 159, math.NaN(), math.NaN(), "15,900 % worse"},
	} {
		if got := Interval(c.higher, c.estimate, c.low, c.high); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestUndecidedButTolerated: a session that passes with a warning fails no report, and is named as undecided.
func TestUndecidedButTolerated(t *testing.T) {
	r := mixed()
	r.Verdict, r.Why, r.Tolerated, r.Metrics = verify.Inconclusive, "not decided: throughput", true, r.Metrics[1:2]
	for name, text := range map[string]string{
		"JUnit": written(t, func(w io.Writer) error { return JUnit(w, r) }),
		"SARIF": written(t, func(w io.Writer) error { return SARIF(w, r, "s.yaml") }),
	} {
		if strings.Contains(text, "<error") || strings.Contains(text, `"error"`) || !strings.Contains(text, "inconclusive") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if text := written(t, func(w io.Writer) error { return Text(w, r) }); !strings.Contains(text, "warning: passed without a verdict") {
		t.Errorf("got\n%s", text)
	}
}

// TestSecondBase: a comparison with the last release is shown with its own figures.
func TestSecondBase(t *testing.T) {
	r, second := mixed(), mixed()
	r.Verdict, r.Why, r.Metrics = verify.Pass, "nothing is worse by its margin", r.Metrics[4:]
	r = r.Also("v1.2`", second)
	for _, text := range []string{written(t, func(w io.Writer) error { return Text(w, r) }),
		written(t, func(w io.Writer) error { return Markdown(w, r) })} {
		if !strings.Contains(text, "against v1.2`: worse: cpu_per_request") || !strings.Contains(text, "6.1 % worse") ||
			strings.Index(text, "bytes_per_request") > strings.Index(text, "6.1 % worse") {
			t.Errorf("got\n%s", text)
		}
	}
	for format, c := range map[string]struct{ text, want string }{
		"SARIF":       {written(t, func(w io.Writer) error { return SARIF(w, r, "s.yaml") }), `"ruleId": "against v1.2` + "`" + `: cpu_per_request"`},
		"JUnit":       {written(t, func(w io.Writer) error { return JUnit(w, r) }), `name="against v1.2` + "`" + `: cpu_per_request"><failure`},
		"annotations": {written(t, func(w io.Writer) error { return Annotations(w, r) }), "::error title=redline against v1.2`%3A cpu_per_request::6.1"},
	} {
		if text := regexp.MustCompile(`>\s+<`).ReplaceAllString(c.text, "><"); !strings.Contains(text, c.want) {
			t.Errorf("%s has no %s:\n%s", format, c.want, c.text)
		}
	}
	second.Verdict, second.Metrics = verify.Invalid, []verify.MetricResult{{Name: "rss", Verdict: verify.Inconclusive}}
	if text := written(t, func(w io.Writer) error { return JUnit(w, mixed().Also("v1.2", second)) }); strings.Contains(text, "v1.2") {
		t.Errorf("metrics of a second session that measured nothing:\n%s", text)
	}
	if text := written(t, func(w io.Writer) error { return Text(w, verify.Unchanged("v1.2")) }); strings.Contains(text, "detectable") ||
		!strings.HasPrefix(text, "PASS: nothing was measured") {
		t.Errorf("unchanged:\n%s", text)
	}
}

// TestNoiseIsShown: where it comes from, and its effect on the plan.
func TestNoiseIsShown(t *testing.T) {
	r := mixed()
	r.Noise = &verify.Components{Launch: 0.041, Turn: 0.143, Order: -0.008, OrderError: 0.016, Pairs: 24}
	r.Plan = &verify.Plan{Pairs: 50, Turns: 8}
	const want = "noise of CPU per request: 14.3 % from turn to turn, 4.1 % from launch to launch; the side launched second differs by " +
		"-0.8 % (standard error 1.6 %); so 8 turns a launch"
	if text := written(t, func(w io.Writer) error { return Text(w, r) }); !strings.Contains(text, want) || strings.Contains(text, "third") {
		t.Errorf("no %q in\n%s", want, text)
	}
	for by, want := range map[float64]string{-0.067: "both sides warm up while they are measured: a request takes 6.7 % less",
		0.08: "a request of both sides takes 8.0 % more CPU"} {
		r.Noise.Warming = by
		if text := written(t, func(w io.Writer) error { return Text(w, r) }); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestMethodIsTold: the result says how it was measured.
func TestMethodIsTold(t *testing.T) {
	r := mixed()
	for want, change := range map[string]func(*verify.Result){
		", loaded by turns of 150 ms;":                     func(r *verify.Result) { r.Turn = 150 * time.Millisecond },
		", one side up at a time (the port is not named);": func(r *verify.Result) { r.Turn, r.Apart = 0, "the port is not named" },
	} {
		change(&r)
		for _, text := range []string{written(t, func(w io.Writer) error { return Text(w, r) }),
			written(t, func(w io.Writer) error { return Markdown(w, r) })} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}

func TestMarkdown(t *testing.T) {
	text := written(t, func(w io.Writer) error { return Markdown(w, mixed()) })
	columns := 0
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		if n := strings.Count(strings.ReplaceAll(line, "\\|", ""), "|"); columns == 0 {
			columns = n
		} else if n != columns {
			t.Errorf("a row of %d columns in a table of %d: %s", n-1, columns-1, line)
		}
	}
	if columns != 8 {
		t.Errorf("the table has %d columns:\n%s", columns-1, text)
	}
}

// TestTargetsLastWords: a target's last output stays together and breaks no markup.
func TestTargetsLastWords(t *testing.T) {
	r := verify.Result{Verdict: verify.Invalid, Why: "side b: the target ended\n  | ```\n  | <b>\x1b[31m & out",
		Sides: [2]string{"./svc@`main`", "./svc"}}
	text := written(t, func(w io.Writer) error { return Markdown(w, r) })
	if strings.Count(text, "````") != 2 || strings.Contains(text, "|---|") || !strings.Contains(text, "- a: `./svc@'main'`") {
		t.Errorf("got\n%s", text)
	}
	if text := written(t, func(w io.Writer) error { return Text(w, r) }); !strings.Contains(text,
		"a  ./svc@`main`\nb  ./svc\n") || strings.Contains(text, "detectable") {
		t.Errorf("got\n%s", text)
	}
	var suite struct{}
	if err := xml.Unmarshal([]byte(written(t, func(w io.Writer) error { return JUnit(w, r) })), &suite); err != nil {
		t.Error(err)
	}
}

func TestReference(t *testing.T) {
	for about, want := range map[string]string{
		"load/shop.yaml": "load/shop.yaml", "a b.yaml": "a%20b.yaml", "x:y.yaml": "./x:y.yaml",
		"http://me:hush@127.0.0.1:1/?token=hush": "http://me:redacted@127.0.0.1:1/?token=redacted",
	} {
		if got := reference(about); got != want {
			t.Errorf("%q is %q, want %q", about, got, want)
		}
	}
}

func TestJUnit(t *testing.T) {
	text := written(t, func(w io.Writer) error { return JUnit(w, mixed()) })
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal([]byte(text), &suite); err != nil {
		t.Fatal(err)
	}
	// The session and its CPU fail; throughput is in error; p99 and rss only advise.
	if suite.Tests != 6 || suite.Failures != 2 || suite.Errors != 1 || suite.Skipped != 2 || len(suite.Cases) != 6 {
		t.Errorf("counted %+v", suite)
	}
}

func TestSARIF(t *testing.T) {
	read := func(r verify.Result) (levels map[string]string) {
		t.Helper()
		text := written(t, func(w io.Writer) error { return SARIF(w, r, "scenario.yaml") })
		var log struct {
			Version string
			Runs    []struct {
				Results []struct {
					RuleID, Level string
					Locations     []struct {
						PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
			t.Fatalf("%v in\n%s", err, text)
		}
		levels = map[string]string{}
		for _, r := range log.Runs[0].Results {
			levels[r.RuleID] = r.Level
			if len(r.Locations) != 1 || r.Locations[0].PhysicalLocation.ArtifactLocation.URI != "scenario.yaml" {
				t.Errorf("%s is at %+v", r.RuleID, r.Locations)
			}
		}
		return levels
	}
	got := read(mixed())
	if len(got) != 3 || got["cpu_per_request"] != "error" || got["throughput"] != "warning" || got["p99"] != "warning" {
		t.Errorf("levels %v", got)
	}
	refused, failing := mixed(), mixed()
	refused.Verdict, refused.Why = verify.Invalid, "nothing loaded"
	if got := read(refused); len(got) != 1 || got["session"] != "error" {
		t.Errorf("an invalid session gives %v", got)
	}
	failing.Why, failing.Metrics = "side b fails 5 % of its requests", failing.Metrics[1:]
	if got := read(failing); got["session"] != "error" || got["throughput"] != "warning" {
		t.Errorf("a side that fails requests gives %v", got)
	}
	// Only an advisory metric is worse, and what keeps the session open is a guard that is missing.
	open := mixed()
	open.Verdict, open.Why, open.Metrics = verify.Inconclusive, "not decided: throughput", open.Metrics[2:]
	if got := read(open); len(got) != 2 || got["session"] != "error" || got["p99"] != "warning" {
		t.Errorf("an undecided session gives %v", got)
	}
	open.Metrics = mixed().Metrics[1:]
	if got := read(open); len(got) != 2 || got["throughput"] != "warning" {
		t.Errorf("an undecided metric gives %v", got)
	}
	if got := read(verify.Result{Verdict: verify.Pass}); len(got) != 0 {
		t.Errorf("a pass gives %v", got)
	}
}

func TestAnnotations(t *testing.T) {
	text := written(t, func(w io.Writer) error { return Annotations(w, mixed()) })
	want := "::error title=redline regression::worse: cpu_per_request\n" +
		"::error title=redline cpu_per_request::6.1 %25 worse (4.0 to 8.0); margin 5 %25\n" +
		"::warning title=redline p99::40.0 %25 worse (20.0 to 60.0); margin 25 %25\n"
	if text != want {
		t.Errorf("got\n%swant\n%s", text, want)
	}
	odd := verify.Result{Verdict: verify.Regression, Why: "a\nb",
		Metrics: []verify.MetricResult{{Name: "p50: a, b", Verdict: verify.Regression, A: 1}}}
	text = written(t, func(w io.Writer) error { return Annotations(w, odd) })
	if !strings.Contains(text, "::error title=redline p50%3A a%2C b::") || !strings.Contains(text, "::a%0Ab\n") {
		t.Errorf("not escaped:\n%s", text)
	}
	if text := written(t, func(w io.Writer) error { return Annotations(w, verify.Result{Verdict: verify.Pass}) }); text != "" {
		t.Errorf("a pass is reported as %q", text)
	}
}
