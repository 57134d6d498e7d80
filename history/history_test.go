package history

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

var machine = record.Host{OS: "linux", Arch: "amd64", Kernel: "6.1", CPUModel: "A", CPUs: 2, Memory: 8 << 30}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// result is the n-th commit's, with CPU of the given level and some noise.
func result(n int, cpu float64) Result {
	return Result{
		Time: epoch.Add(time.Duration(n) * time.Hour),
		Commit: revision.Commit{Hash: fmt.Sprintf("%08x%032d", 0xc0ffee00+n, 0),
			Subject: fmt.Sprintf("handler: step %d", n), Branch: "main", Time: epoch.Add(time.Duration(n) * time.Hour)},
		Scenario: "gateway", Hash: "00112233", Machine: machine, Go: "go1.26.0", Redline: "v1", Kind: AB, Dir: "/runs/x",
		Figures: []Figure{
			{Metric: "cpu_per_request", Unit: "ns", Value: cpu, Low: cpu * 0.99, High: cpu * 1.01},
			{Metric: "throughput", Unit: "1/s", Higher: true, Value: 1e9 / cpu, Low: math.NaN(), High: math.NaN()},
		},
	}
}

// steps are 30 commits whose CPU rises by 10 % at the 12th and falls by 20 % at
// the 22nd, with noise of 1 %.
func steps() (out []Result) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 30 {
		level := 40e3
		if n >= 12 {
			level *= 1.10
		}
		if n >= 22 {
			level *= 0.80
		}
		out = append(out, result(n, level*(1+0.01*rng.NormFloat64())))
	}
	return out
}

func add(t testing.TB, s *Store, results ...Result) {
	t.Helper()
	for _, r := range results {
		if added, err := s.Add(context.Background(), r); err != nil || !added {
			t.Fatalf("added %t, %v", added, err)
		}
	}
}

// TestChangePoints takes known steps through the whole path, measured out of
// order and twice: every step is reported at its commit, in the right direction, and
// nothing else is.
func TestChangePoints(t *testing.T) {
	s := file(t)
	all := steps()
	shuffled := append([]Result{}, all...)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for i := range shuffled {
		shuffled[i].Time = epoch.Add(time.Duration(100+i) * time.Hour) // long after the commits
	}
	add(t, s, shuffled...)
	again := all[5]
	again.Time = epoch.Add(999 * time.Hour)
	add(t, s, again)
	dirty := all[29]
	dirty.Time = epoch.Add(1000 * time.Hour)
	dirty.Commit.Dirty, dirty.Figures = true, []Figure{{Metric: "cpu_per_request", Unit: "ns", Value: 1e9}}
	add(t, s, dirty)

	results, err := s.Results(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	series := Arrange(results, Options{})
	if len(series) != 2 || series[0].Metric != "cpu_per_request" || len(series[0].Points) != 30 {
		t.Fatalf("%d series, the first of %s with %d points", len(series), series[0].Metric, len(series[0].Points))
	}
	for _, s := range series {
		if len(s.Changes) != 2 {
			t.Fatalf("%s: %d changes: %+v", s.Metric, len(s.Changes), s.Changes)
		}
		for i, want := range []struct {
			at       int
			worse    bool
			relative float64
		}{{12, true, 0.10}, {22, false, -0.20}} {
			relative := want.relative
			if s.Higher {
				relative = 1/(1+relative) - 1
			}
			c := s.Changes[i]
			if c.At != want.at || c.Worse != want.worse || math.Abs(c.Relative()-relative) > 0.02 || c.P > DefaultMaxP {
				t.Errorf("%s: change %+v, %.3f, want at %d, worse %t, %.3f", s.Metric, c, c.Relative(), want.at, want.worse, relative)
			}
			if s.Points[c.At].Commit.Hash != all[want.at].Commit.Hash {
				t.Errorf("%s: the change is told of commit %s", s.Metric, s.Points[c.At].Commit.Hash)
			}
		}
		if _, worse := s.Regressed(30); worse {
			t.Errorf("%s: the newest change is for the better", s.Metric)
		}
	}
	if p := series[0].Points[5]; p.Results != 2 || !math.IsNaN(p.Low) {
		t.Errorf("a commit measured twice: %+v", p)
	}
	if p := series[0].Points[6]; p.Results != 1 || math.Abs(p.Low/p.Value-0.99) > 1e-9 {
		t.Errorf("a commit measured once: %+v", p)
	}
	asked := Arrange(results, Options{Dirty: true})
	if points := asked[0].Points; len(points) != 31 || !points[30].Commit.Dirty {
		t.Errorf("with dirty trees: %d points", len(points))
	}
	// Before the way down, the newest change was for the worse, 9 commits ago.
	early := Arrange(results, Options{})[0]
	early.Points, early.Changes = early.Points[:22], early.Changes[:1]
	for n, want := range map[int]bool{9: false, 10: true} {
		if _, worse := early.Regressed(n); worse != want {
			t.Errorf("regressed within %d commits: %t", n, worse)
		}
	}
}

// TestSteadyHistories: noise alone makes hardly a change.
func TestSteadyHistories(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	reported := 0
	for range 200 {
		var results []Result
		for n := range 40 {
			results = append(results, result(n, 40e3*math.Exp(0.02*rng.NormFloat64())))
		}
		reported += len(Arrange(results, Options{})[0].Changes)
	}
	if reported > 10 {
		t.Errorf("%d changes were told in 200 histories without any", reported)
	}
}

// TestApart: values that were not measured alike are never in one series.
func TestApart(t *testing.T) {
	base := result(0, 40e3)
	for name, change := range map[string]func(*Result){
		"kernel":    func(r *Result) { r.Machine.Kernel = "6.2" },
		"CPU model": func(r *Result) { r.Machine.CPUModel = "B" },
		"CPUs":      func(r *Result) { r.Machine.CPUs = 4 },
		"memory":    func(r *Result) { r.Machine.Memory *= 2 },
		"system":    func(r *Result) { r.Machine.OS = "darwin" },
		"arch":      func(r *Result) { r.Machine.Arch = "arm64" },
		"scenario":  func(r *Result) { r.Hash = "44556677" },
		"kind":      func(r *Result) { r.Kind = Run },
		"unit":      func(r *Result) { r.Figures = []Figure{{Metric: "cpu_per_request", Unit: "s", Value: 1}} },
	} {
		other := result(1, 41e3)
		change(&other)
		for _, s := range Arrange([]Result{base, other}, Options{}) {
			if len(s.Points) != 1 {
				t.Errorf("another %s: %d points in one series of %s", name, len(s.Points), s.Metric)
			}
		}
	}
	gate := result(1, 41e3)
	gate.Kind = Gate
	gate.Machine.Memory -= 1 << 20 // what another boot leaves
	if s := Arrange([]Result{base, gate}, Options{})[0]; len(s.Points) != 2 {
		t.Error("a gate does not continue what ab measured")
	}
	here, others := Here(Arrange([]Result{base}, Options{}), record.Host{OS: "linux"})
	if len(here) != 0 || len(others) != 2 {
		t.Errorf("%d series here, %d elsewhere", len(here), len(others))
	}
}

// TestTurnsAreApart: what was measured by turns is no series with what was
// measured alone, nor with turns of another length.
func TestTurnsAreApart(t *testing.T) {
	h := session.Header{Plan: []byte(`{"load":{"connections":8}}`), Block: time.Second}
	blocks := []verify.Block{{Values: map[string]float64{"cpu_per_request": 1e5}}}
	seen := map[string]time.Duration{}
	for _, turn := range []time.Duration{0, 150 * time.Millisecond, 300 * time.Millisecond} {
		r, err := FromSession("s", h, blocks, verify.Metrics(false), turn, AB)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[r.Hash]; ok {
			t.Errorf("turns of %v and of %v are one series", turn, other)
		}
		seen[r.Hash] = turn
	}
}

// TestAddedLater: what is added from a recording is held to the same as what a verb adds itself.
func TestAddedLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	log, err := session.Create(dir, session.Header{Plan: []byte(`{"load":{"connections":8}}`), OwnEnv: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Finish(verify.Result{Schema: verify.Schema, Verdict: verify.Pass}); err != nil {
		t.Fatal(err)
	}
	if _, err := FromRecorded(t.Context(), dir, revision.Commit{}); err == nil || !strings.Contains(err.Error(), "environment of its own") {
		t.Errorf("a side with an environment of its own: %v", err)
	}
	for _, modified := range []bool{false, true} {
		if c := built(t.Context(), record.Target{Revision: "0123abcd", Modified: modified}); c.Dirty != modified || c.Hash == "" {
			t.Errorf("a build from a work tree, changed %t, is of %+v", modified, c)
		}
	}
}

// TestText draws the steps; every change is on a line of its own with what it
// is, and lines stay within the width.
func TestText(t *testing.T) {
	series := Arrange(steps(), Options{})[:1]
	for _, plain := range []bool{false, true} {
		var b strings.Builder
		if err := Text(&b, series, TextOptions{Width: 80, Plain: plain, Machine: machine}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, want := range []string{"cpu_per_request of gateway", "30 commits, lower is better", "A  c0ffee0c",
			"+10.1 %", "worse", "B  c0ffee16", "-19.7 %", "better", "p < 0.0001", "handler: step 12"} {
			if !strings.Contains(text, want) {
				t.Errorf("plain %t: no %q in\n%s", plain, want, text)
			}
		}
		if plain {
			for i, r := range text {
				if r > 126 {
					t.Fatalf("byte %d of plain text is %q", i, r)
				}
			}
		}
		if strings.Contains(text, "another machine") {
			t.Error("this machine is told as another one")
		}
		t.Log("\n" + text)
	}
	var b strings.Builder
	other := machine
	other.Kernel = "5.9"
	hostile := series[0]
	hostile.Scenario, hostile.Points = "\x1b[2Jx", append([]Point{}, hostile.Points...)
	hostile.Points[12].Commit.Subject = "\x1b]0;title\a" + strings.Repeat("x", 1000)
	if err := Text(&b, []Series{hostile}, TextOptions{Width: 20, Machine: other}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, `kernel: "5.9" and "6.1"`) || strings.ContainsAny(text, "\x1b\a") ||
		strings.Contains(text, strings.Repeat("x", 60)) {
		t.Errorf("another machine and hostile text:\n%s", text)
	}
}

// TestLongAndShort: a chart of any length is drawn.
func TestLongAndShort(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 60, 200, 1000} {
		var results []Result
		for i := range n {
			results = append(results, result(i, 40e3+float64(i%3)))
		}
		for _, plain := range []bool{false, true} {
			lines := chart(Arrange(results, Options{})[0], 60, plain)
			for _, line := range lines {
				if len([]rune(line)) > 60 {
					t.Errorf("%d points: a line of %d cells", n, len([]rune(line)))
				}
			}
		}
	}
	same := chart(Arrange([]Result{result(0, 5), result(1, 5)}, Options{})[0], 60, true)
	if strings.Count(strings.Join(same, "\n"), "5 ns") != 1 {
		t.Errorf("a constant series:\n%s", strings.Join(same, "\n"))
	}
}

func TestFormats(t *testing.T) {
	series := Arrange(steps(), Options{})
	var b bytes.Buffer
	if err := JSON(&b, series, machine); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Schema string
		Series []struct {
			Metric  string
			Points  []struct{ Low *float64 }
			Changes []struct {
				Commit string
				Worse  bool
			}
			Differs []any `json:"machine_differs"`
		}
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if out.Schema != Schema || len(out.Series) != 2 || len(out.Series[0].Points) != 30 ||
		!out.Series[0].Changes[0].Worse || out.Series[0].Differs == nil {
		t.Errorf("%s", b.String()[:300])
	}
	if out.Series[0].Points[0].Low == nil || out.Series[1].Points[0].Low != nil {
		t.Error("an interval is told where none is known, or not told")
	}
	series[0].Points[0].Commit.Subject = "=HYPERLINK(\"x\")"
	b.Reset()
	if err := CSV(&b, series); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 61 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if rows[1][10] != "'=HYPERLINK(\"x\")" || rows[13][18] == "" || rows[12][18] != "" {
		t.Errorf("row 1 %q, row 13 %q", rows[1], rows[13])
	}
}
