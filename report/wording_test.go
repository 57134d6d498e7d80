package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
)

func TestShortNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{shortFunction("github.com/a/b/store.(*Store[int]).Get"), "store.(*Store[int]).Get"},
		{shortFunction("f[github.com/a/b.T]"), "f[github.com/a/b.T]"},
		{shortFunction("main.main"), "main.main"},
		{shortFunction("github.com/a/health-go/v4.(*Health).Measure"), "health-go.(*Health).Measure"},
		{shortFunction("github.com/a/web.(*App).routes.(*App).models.func1"), "web.(*App).models.func1"},
		{shortFunction("github.com/a/main.unique[go.shape.struct { github.com/a/b.list int }].func1"), "main.unique[...].func1"},
		{shortFunction("x[go.shape.int"), "x[go.shape.int"},
		{shortFile("/src/a/b.go"), "a/b.go"},
		{shortFile("b.go"), "b.go"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// A gain says of what it is, and what limits next.
func TestGainSaysOfWhatAndWhatIsNext(t *testing.T) {
	f := findings.Finding{Share: 0.27, ShareOf: "request time", GainCeiling: 1.37, GainOf: "latency", Confidence: findings.High}
	if got := Weight(&f); got != "27 % of request time, worth about 1.37x in latency, high confidence" {
		t.Errorf("%q", got)
	}
	f.GainOf, f.Then = "throughput", "the pool of 10 connections"
	if got := Weight(&f); got != "27 % of request time, worth about 1.37x (then limited by the pool of 10 connections), high confidence" {
		t.Errorf("%q", got)
	}
	f.GainCeiling, f.GainAtLeast, f.Then = 14.4, true, "the host's 2 CPUs"
	if got := Weight(&f); got != "27 % of request time, worth at least 14.4x (then limited by the host's 2 CPUs), high confidence" {
		t.Errorf("%q", got)
	}
	for name, c := range map[string]struct {
		low, gain, high float64
		atLeast         bool
		want            string
	}{
		"a narrow error":            {13.1, 14.4, 16, false, "about 14.4x"},
		"a wide one":                {9.5, 14.4, 29.9, false, "9.50x to 29.9x"},
		"to the pole":               {9.5, 14.4, 50, false, "at least 9.50x"},
		"a floor":                   {9.5, 14.4, 29.9, true, "at least 9.50x"},
		"perhaps no gain":           {1, 1.1, 2, false, "about 1.10x"},
		"what remains is not known": {2.5, 50, 50, false, "at least 2.50x"},
		"beyond the pole":           {20, 50, 50, true, "50x or more"},
		"its error unsaid":          {0, 14.4, 0, false, "about 14.4x"},
	} {
		f := findings.Finding{Share: 0.9, GainCeiling: c.gain, GainLow: c.low, GainHigh: c.high, GainAtLeast: c.atLeast}
		if got := Weight(&f); got != "90 % of the whole, worth "+c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	f = findings.Finding{Share: 0.993, ShareOf: "request time", GainCeiling: 50, GainOf: "latency", Confidence: findings.High}
	if got := Weight(&f); got != "99.3 % of request time, worth 50x or more in latency, high confidence" {
		t.Errorf("%q", got)
	}
	f.ShareOf = "tail latency"
	if got := Weight(&f); got != "99.3 % of tail latency, tail 50x shorter or more, high confidence" {
		t.Errorf("%q", got)
	}
}

// TestCautionComesFirst: what spoils the figures is said before the findings, once.
func TestCautionComesFirst(t *testing.T) {
	const caution = "The host was not quiet: other programs took 64 % of its CPUs."
	s := &record.Summary{State: record.Complete, Generator: record.Generator{Valid: true}, Caution: caution,
		Warnings: []string{"another", caution}, Findings: []findings.Finding{{Cause: "cpu-json", Title: "JSON takes 60 % of the CPU"}}}
	var text, md strings.Builder
	if err := errors.Join(Text(&text, s, TextOptions{}), Markdown(&md, s)); err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(text.String(), caution); at < 0 || at > strings.Index(text.String(), "JSON takes") {
		t.Errorf("not before the finding:\n%s", text.String())
	}
	if n := strings.Count(text.String(), caution); n != 1 || !strings.Contains(text.String(), "warning: another") {
		t.Errorf("said %d times, or with the other warning lost:\n%s", n, text.String())
	}
	if !strings.HasPrefix(md.String(), "> "+caution) {
		t.Errorf("Markdown begins otherwise:\n%s", md.String())
	}
	if h := HeadlineOf(s); h.State != caution {
		t.Errorf("the page says %q", h.State)
	}
}

// TestPercentilesNeedRequests: a percentile beyond which no request lies is not printed.
func TestPercentilesNeedRequests(t *testing.T) {
	for requests, want := range map[int64]string{9: "50 % max", 96: "50 % 90 % 95 % max", 100: "50 % 90 % 95 % 99 % max",
		1000: "50 % 90 % 95 % 99 % 99.9 % max"} {
		var names []string
		for _, row := range quantiles(&record.LoadSummary{Requests: requests}) {
			names = append(names, row.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%d requests: %q, want %q", requests, got, want)
		}
	}
}

// TestScheduleThatIsCaughtUp: more responses than were due are no kept schedule, but a backlog.
func TestScheduleThatIsCaughtUp(t *testing.T) {
	for rate, want := range map[float64]string{1000: "kept up", 1100: "worked off a backlog", 900: "fell behind"} {
		if got := limitedBy(&record.Summary{Load: record.LoadSummary{IntendedRate: 1000, Rate: rate}}); !strings.Contains(got, want) {
			t.Errorf("%v of 1000 due: %q", rate, got)
		}
	}
}
