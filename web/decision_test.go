package web_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/web"
	"github.com/redline-go/redline/web/webtest"
)

// shownPage is what page/test/show.mjs returns.
type shownPage struct {
	Console, Errors, Requests []string
	Overflow                  map[string]float64
	Texts                     map[string][]string
	Title                     string
	Injected                  int
}

// show opens a page in Chromium and reads the texts at selectors.
func show(t *testing.T, name, html string, selectors ...string) shownPage {
	t.Helper()
	dir := nodeModules(t)
	file := filepath.Join(t.TempDir(), name+".html")
	must(t, os.WriteFile(file, []byte(html), 0o644))
	var s shownPage
	webtest.Walk(t, dir, "show.mjs", &s, append([]string{file, webtest.Shots(t), name}, selectors...)...)
	if len(s.Console)+len(s.Errors)+len(s.Requests)+s.Injected > 0 {
		t.Errorf("console %q, errors %q, asked %q, %d elements that the page does not make", s.Console, s.Errors,
			s.Requests, s.Injected)
	}
	for width, pixels := range s.Overflow {
		if pixels > 0 {
			t.Errorf("%s: the page is %v px wider than the screen", width, pixels)
		}
	}
	return s
}

// session is a session in which side b takes 10 % more CPU, with its result.
func session(evil string) (verify.Result, []verify.Pair) {
	rng := rand.New(rand.NewPCG(1, 2))
	var same, both []verify.Pair
	block := func(cpu float64) verify.Block {
		b := verify.Block{Values: map[string]float64{"cpu_per_request": cpu * (1 + 0.01*rng.Float64()),
			"throughput": 2000 + 20*rng.Float64(), "rss": 48e6}, Latency: verify.Latencies{}}
		for range 500 {
			b.Latency.Add(int64(1e6*(1+rng.ExpFloat64())), 4)
		}
		return b
	}
	for range 6 {
		same = append(same, verify.Pair{A: block(400e3), B: block(400e3)})
	}
	for range 20 {
		both = append(both, verify.Pair{A: block(400e3), B: block(440e3)})
	}
	r := verify.Decide(both, same, 4, verify.Rules{Metrics: verify.Metrics(false), Seed: 1})
	r.Sides = [2]string{"./svc-old" + evil, "./svc-new" + evil}
	r.Warnings = append(r.Warnings, "the machine was busy"+evil)
	return r, both
}

// observed is a launch of each side; that of side b has another profile.
func observed(t *testing.T, evil string) *[2]web.Observed {
	var out [2]web.Observed
	for i, o := range []reporttest.Options{{Evil: evil}, {Evil: evil, Stacks: 20}} {
		out[i] = web.Observed{Record: reporttest.Bundle(t, o), Summary: reporttest.Sick()}
	}
	out[1].Summary.Findings = out[1].Summary.Findings[1:]
	return &out
}

func decisionPage(t *testing.T, evil string) string {
	t.Helper()
	r, pairs := session(evil)
	var b bytes.Buffer
	must(t, web.Decision(&b, r, pairs, observed(t, evil)))
	return b.String()
}

func TestDecisionInBrowser(t *testing.T) {
	t.Parallel()
	s := show(t, "decision", decisionPage(t, ""), "h1", ".decided th[scope=row]", ".decided .interval",
		".decided tbody tr:first-child .pair-dot", ".figures dd", "#basis-title + .card li",
		"#chart-spectrum .legend li", "#observed-title + .note", ".fates .fate", "#flames .flame-tabs span",
		"#flames .flame-graph > .note")
	if fates := s.Texts[".fates .fate"]; len(fates) != 4 || !slices.Contains(fates, "went") {
		t.Errorf("what became of findings: %q", fates)
	}
	if got := s.Texts["#flames .flame-tabs span"]; !slices.Equal(got, []string{"CPU per request", "Requests"}) ||
		!strings.HasPrefix(s.Texts["#flames .flame-graph > .note"][0], "Each run's CPU profile, over its requests.") ||
		!strings.Contains(s.Texts["#observed-title + .note"][0], "does not affect the verdict") {
		t.Errorf("flame graphs %q, notes %q", got, s.Texts)
	}
	if !slices.Equal(s.Texts["h1"], []string{"regression"}) || s.Title != "redline regression – redline" {
		t.Errorf("title %q, %q", s.Title, s.Texts["h1"])
	}
	rows := s.Texts[".decided th[scope=row]"]
	if len(rows) == 0 || rows[0] != "cpu per request" {
		t.Errorf("metrics: %q", rows)
	}
	if cell := s.Texts[".decided .interval"][0]; !strings.HasPrefix(cell, "10") || !strings.Contains(cell, "worse") ||
		!strings.Contains(cell,
			"margin ±5.0 %") {
		t.Errorf("the effect: %q", cell)
	}
	if n := len(s.Texts[".decided tbody tr:first-child .pair-dot"]); n != 20 {
		t.Errorf("%d pairs are drawn, want 20", n)
	}
	if basis := strings.Join(s.Texts["#basis-title + .card li"], "\n"); !strings.Contains(basis,
		"20 pairs of launches") || !strings.Contains(basis, "warning: the machine was busy") {
		t.Errorf("basis: %q", basis)
	}
	if len(s.Texts["#chart-spectrum .legend li"]) != 2 {
		t.Errorf("curves: %q", s.Texts["#chart-spectrum .legend li"])
	}
}

func TestHostileDecisionInBrowser(t *testing.T) {
	t.Parallel()
	evil := `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">` + "\u202e"
	html := decisionPage(t, evil)
	if s := show(t, "hostile", html); s.Title == "owned" || strings.Contains(html, "<img") {
		t.Error("a name ran as script")
	}
}

// TestDecisionOfNothing: a session that measured nothing says why.
func TestDecisionOfNothing(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	must(t, web.Decision(&b, verify.Result{Schema: verify.Schema, Verdict: verify.Invalid,
		Why: "side a did not start"}, nil, nil))
	s := show(t, "nothing", b.String(), "h1", ".lead")
	if !slices.Equal(s.Texts["h1"], []string{"invalid"}) || !slices.Equal(s.Texts[".lead"],
		[]string{"side a did not start"}) {
		t.Errorf("%q", s.Texts)
	}
}

// TestDecisionAgainstBaseline: the page of a comparison with stored launches has its metrics, and promises no error rate.
func TestDecisionAgainstBaseline(t *testing.T) {
	t.Parallel()
	_, pairs := session("")
	var base, now []verify.Block
	for _, p := range pairs {
		p.A.Values[verify.MachineYardstick], p.B.Values[verify.MachineYardstick] = 3e6, 3e6
		base, now = append(base, p.A), append(now, p.B)
	}
	r := verify.DecideAgainst(base, now, verify.Rules{Metrics: verify.Metrics(false)})
	var b bytes.Buffer
	must(t, web.Decision(&b, r, nil, nil))
	s := show(t, "baseline", b.String(), ".brand", ".figures dt", ".figures dd", ".decided th[scope=row]",
		".decided .interval", ".shelf .note")
	if rows := s.Texts[".decided th[scope=row]"]; len(rows) < 3 || rows[0] != "cpu per request" ||
		!strings.Contains(s.Texts[".decided .interval"][0], "worse") {
		t.Errorf("metrics %q, effects %q", rows, s.Texts[".decided .interval"])
	}
	if figures := s.Texts[".figures dt"]; !slices.Equal(figures, []string{"launches", "of the baseline", "false regressions"}) ||
		!slices.Equal(s.Texts[".figures dd"], []string{"20", "20", "unknown"}) {
		t.Errorf("figures %q: %q", figures, s.Texts[".figures dd"])
	}
	if text := strings.Join(slices.Concat(s.Texts[".brand"], s.Texts[".shelf .note"]), "\n"); strings.Contains(text, "pair") {
		t.Errorf("there are no pairs: %q", text)
	}
}

// TestDecisionAgainstSecondBase: a regression against the last release is on the page with its own metrics.
func TestDecisionAgainstSecondBase(t *testing.T) {
	t.Parallel()
	second, pairs := session("")
	for i := range pairs {
		pairs[i].B = pairs[i].A
	}
	r := verify.Decide(pairs, nil, 4, verify.Rules{Metrics: verify.Metrics(false), Seed: 1}).Also("v1.2", second)
	var b bytes.Buffer
	must(t, web.Decision(&b, r, pairs, nil))
	s := show(t, "second", b.String(), "h1", "#second-title", "#second-title ~ .note", "#second-title ~ .scroll th[scope=row]",
		"#second-title ~ .scroll .interval", ".decided th[scope=row]")
	if !slices.Equal(s.Texts["h1"], []string{"regression"}) || !slices.Equal(s.Texts["#second-title"], []string{"Also against v1.2"}) ||
		!strings.HasPrefix(strings.Join(s.Texts["#second-title ~ .note"], ""), "regression: worse: cpu per request") {
		t.Errorf("%q", s.Texts)
	}
	if rows := s.Texts["#second-title ~ .scroll th[scope=row]"]; len(rows) < 3 || len(s.Texts[".decided th[scope=row]"]) != 2*len(rows) ||
		!strings.HasPrefix(s.Texts["#second-title ~ .scroll .interval"][0], "10") {
		t.Errorf("metrics %q, effects %q", rows, s.Texts["#second-title ~ .scroll .interval"])
	}
}
