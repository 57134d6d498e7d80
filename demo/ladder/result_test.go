package ladder

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// steps holds what steps of a given gain compare as: the simulation of a session is most of these tests' time, and
// the same each time.
var steps = map[float64]Comparison{}

// step compares a state with one that serves so many times its rate.
func step(a, b string, gain float64) *Comparison {
	c, ok := steps[gain]
	if !ok {
		c = Compare(a, b, drawn(Pairs, gain, 0.01), 1)
		steps[gain] = c
	}
	c.A, c.B = a, b
	return &c
}

// climbed is a ladder of two rungs whose last serves so many times the first's rate.
func climbed(name string, factor float64) *Result {
	r := &Result{Schema: Schema, Ladder: name, Quick: true}
	r.Rungs = []Rung{
		{Step: Step{Name: "as found"}, Rate: 400, P95: 3e8, Answers: 10},
		{Step: Step{Name: "pool", Finding: "db-pool-churn"}, Rate: 800, P95: 1e8, Answers: 10},
		{Step: Step{Name: "json"}, Rate: 800, P95: 1e8, Answers: 10},
	}
	for i, gain := range []float64{2, 1} {
		c := step(r.Rungs[i].Name, r.Rungs[i+1].Name, gain)
		c.Launches, c.Accounts = 1, [2]Account{{Made: 40, Rows: 40}, {Made: 60, Rows: 60}}
		r.Rungs[i+1].Against = c
	}
	r.Whole = step("as found", "json", factor)
	return r
}

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		name   string
		factor float64
		paced  *Paced
		bench  float64
		want   []string
	}{
		{Order, 30, nil, 0, []string{"met", "met", "met"}},
		{Order, 17, nil, 0, []string{"met", "missed", "missed"}},
		{Order, 2, nil, 0, []string{"missed", "missed", "missed"}},
		{Stack, 5, &Paced{Rate: 1000, P99: 41e6}, 3000, []string{"met", "met", "met"}},
		{Stack, 5, &Paced{Rate: 1000, P99: 43e6}, 5000, []string{"met", "missed", "missed"}},
		{Stack, 5, &Paced{Why: "late"}, 0, []string{"met", "not measured", "not measured"}},
	} {
		r := climbed(c.name, c.factor)
		r.Paced, r.Pgbench = c.paced, c.bench
		var got []string
		for _, m := range r.Marks() {
			got = append(got, m.Verdict)
		}
		if strings.Join(got, ",") != strings.Join(c.want, ",") {
			t.Errorf("%s at %vx: %v, want %v", c.name, c.factor, got, c.want)
		}
	}
	wide := climbed(Order, 17)
	*wide.Whole = Compare("a", "b", drawn(Pairs, 15.5, 0.2), 1)
	if m := wide.Marks()[0]; m.Verdict != "open" {
		t.Errorf("%s is %s", m.Measured, m.Verdict)
	}
	wide.Whole = nil
	if m := wide.Marks()[0]; m.Verdict != "not measured" {
		t.Errorf("without a measurement it is %s", m.Verdict)
	}
}

// TestText: a gain has its interval, noise is called noise, and a step that no finding
// calls for says so.
func TestText(t *testing.T) {
	r := climbed(Order, 20)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return r.Text(b) },
		"markdown": func(b *bytes.Buffer) error { return r.Markdown(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"db-pool-churn", "no finding calls for it", "within the noise (", "30 answers",
			"of 200 orders made in 4 launches no order is lost or doubled",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, b.String())
			}
		}
	}
	r.Rungs[2].Against.Accounts[1].Rows = 59
	if text := r.Checked(); strings.Contains(text, "no order is lost") || !strings.Contains(text, "1 order is lost") {
		t.Errorf("a lost order: %s", text)
	}
	r.Rungs[2].Against = &Comparison{Invalid: "the generator could not keep up"}
	var b bytes.Buffer
	if err := r.Text(&b); err != nil || !strings.Contains(b.String(), "not measured: the generator could not keep up") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestResultIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	if _, ok, err := Read(dir, Order); ok || err != nil {
		t.Fatalf("of nothing: %t, %v", ok, err)
	}
	r := climbed(Order, 20)
	r.Next = &Step{Name: "cache", Remedies: []string{"cache"}}
	r.Rungs[1].Name = "pool\x1b[31m"
	if err := r.Keep(dir); err != nil {
		t.Fatal(err)
	}
	back, ok, err := Read(dir, Order)
	if err != nil || !ok || len(back.Rungs) != 3 || back.Next.Name != "cache" || back.Rungs[1].Against.Pairs != Pairs {
		t.Fatalf("%t, %v, %+v", ok, err, back)
	}
	if strings.Contains(back.Rungs[1].Name, "\x1b") {
		t.Error("a text of the file can act on a terminal")
	}
	if _, _, err := Read(dir, Stack); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		"{", `{"schema":"redline.lab/1","ladder":"order"}`, `{"schema":"redline.lab.ladder/1","ladder":"stack"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, File(Order)), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := Read(dir, Order); ok || err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
