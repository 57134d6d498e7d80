package gobench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/redline-go/redline/verify"
)

// module writes files into a new folder.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{"go.mod": "module shop\n\ngo 1.24\n"})
	write(t, dir, files)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// commit commits everything in dir under a tag.
func commit(t *testing.T, dir, tag string) {
	t.Helper()
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-q",
			"-m", tag}, {"tag", tag},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

// quick are options that measure for next to no time: effects in tests are large.
func quick(t *testing.T, dir string) Options {
	return Options{Dir: dir, Rounds: 2, BenchTime: "2ms", Profiles: -1, Seed: 1, Out: filepath.Join(t.TempDir(), "out")}
}

func run(t *testing.T, o Options) *Report {
	t.Helper()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) find(t *testing.T, name string) Benchmark {
	t.Helper()
	for _, b := range r.Benchmarks {
		if b.Name == name {
			return b
		}
	}
	t.Fatalf("no benchmark %s among %+v", name, r.Benchmarks)
	return Benchmark{}
}

func (b Benchmark) metric(t *testing.T, unit string) Metric {
	t.Helper()
	for _, m := range b.Metrics {
		if m.Name == unit {
			return m
		}
	}
	t.Fatalf("%s has no %s: %+v", b.Name, unit, b.Metrics)
	return Metric{}
}

const codec = `package codec

func Encode(n int) (sum uint32) {
	for i := range uint32(n) {
		sum = sum*31 + i
	}
	return sum
}
`

const codecTest = `package codec

import (
	"os"
	"testing"
)

func BenchmarkEncode(b *testing.B) {
	if _, err := os.ReadFile("testdata/orders.txt"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Encode(4000)
	}
	b.ReportMetric(COST, "ns/op") // on any host; TestEnvironments has what is measured
}

func BenchmarkRate(b *testing.B) {
	b.Run("size=8-8", func(b *testing.B) {
		for b.Loop() {
			Encode(1)
		}
		b.ReportMetric(RATE, "orders/s")
		b.ReportMetric(3, "depth")
	})
}
`

// TestRevisions: a slow-down of one benchmark is found, and benchmarks that cannot be
// compared are reported.
func TestRevisions(t *testing.T) {
	dir := module(t, map[string]string{
		"codec/codec.go": codec, "codec/codec_test.go": strings.NewReplacer("RATE", "1000", "COST", "4000").
					Replace(codecTest), "codec/testdata/orders.txt": "1",
		"codec/old_test.go": "package codec\n\nimport \"testing\"\n\nfunc BenchmarkGone(b *testing.B) { for b.Loop() {} }\n",
	})
	commit(t, dir, "v1")
	if err := os.Remove(filepath.Join(dir, "codec/old_test.go")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"codec/codec.go":      strings.ReplaceAll(codec, "uint32(n)", "uint32(8*n)"),
		"codec/codec_test.go": strings.NewReplacer("RATE", "500", "COST", "32000").Replace(codecTest),
		"codec/new_test.go": `package codec

import "testing"

func BenchmarkNew(b *testing.B) { for b.Loop() {} }
func BenchmarkAPanic(b *testing.B) { panic("no such order") }
func BenchmarkSkips(b *testing.B) { b.Run("here", func(b *testing.B) { b.Skip("no ring of the kernel") }) }
func BenchmarkFails(b *testing.B) { b.Run("late", func(b *testing.B) { b.Error("wrong sum") }) }
`,
		"fresh/fresh_test.go": "package fresh\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) { for b.Loop() {} }\n",
	})
	o := quick(t, dir)
	o.Patterns, o.Sides, o.Rounds, o.Profiles = []string{"./..."}, []Side{{Revision: "v1"}, {}}, 12, 1
	var lines []string
	o.Progress = func(line string) { lines = append(lines, line) }
	r := run(t, o)

	if r.Verdict != verify.Regression || !strings.Contains(r.Why, "Encode") || r.Rounds != 12 || r.AA.Pairs != sameRounds {
		t.Errorf("%s: %s, %d rounds, %+v", r.Verdict, r.Why, r.Rounds, r.AA)
	}
	slow := r.find(t, "Encode")
	if m := slow.metric(t, "sec/op"); m.Verdict != verify.Regression || m.Estimate < 1 || m.Low <= 0 || m.A >= m.B {
		t.Errorf("eight times the work: %+v", m)
	}
	if m := slow.metric(t, "allocs/op"); m.Verdict != verify.Pass || m.A != 0 {
		t.Errorf("no allocation on either side: %+v", m)
	}
	rate := r.find(t, "Rate/size=8-8")
	if m := rate.metric(t, "orders/s"); m.Verdict != verify.Regression || m.Advisory || m.A != 1000 || m.B != 500 {
		t.Errorf("half the rate: %+v", m)
	}
	if m := rate.metric(t, "depth"); m.Verdict != verify.Pass || !m.Advisory {
		t.Errorf("a unit without a direction: %+v", m)
	}
	if slow.Profile == nil && rate.Profile == nil {
		t.Error("nothing is profiled")
	} else if p := slow.Profile; p != nil {
		if _, err := os.Stat(filepath.Join(o.Out, p.Sides[1].File)); err != nil || len(p.Sides[1].Top) == 0 {
			t.Errorf("profile %+v: %v", p.Sides[1], err)
		}
	}
	checkMissing(t, r)
	if !r.Sides[1].Dirty || r.Sides[0].Dirty || len(r.Sides[0].Commit) != 40 {
		t.Errorf("sides %+v", r.Sides)
	}
	checkFiles(t, o.Out, r)
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "round 12 of 12") }) {
		t.Errorf("progress %q", lines)
	}
	checkClean(t, dir)
	for _, format := range []func() (string, error){
		func() (string, error) { var b bytes.Buffer; err := Text(&b, r, o.Out); return b.String(), err },
		func() (string, error) { var b bytes.Buffer; err := Markdown(&b, r); return b.String(), err },
	} {
		text, err := format()
		for _, part := range []string{"Rate/size=8-8", "orders/s", "regression", "no such order"} {
			if err != nil || !strings.Contains(text, part) {
				t.Errorf("%q is missing (%v) in\n%s", part, err, text)
			}
		}
	}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "-o another folder") {
		t.Errorf("a session over another: %v", err)
	}
}

// checkMissing looks for benchmarks that only one side has, or that fail.
func checkMissing(t *testing.T, r *Report) {
	t.Helper()
	for _, want := range []Missing{
		{Package: "shop/codec", Name: "Gone", Side: "b", Why: "does not exist"},
		{Package: "shop/codec", Name: "New", Side: "a", Why: "does not exist"},
		{Package: "shop/codec", Name: "APanic", Side: "b", Why: "no such order", Failed: true},
		{Package: "shop/codec", Name: "Fails/late", Side: "b", Why: "FAIL", Failed: true},
		{Package: "shop/codec", Name: "Skips/here", Side: "b", Why: "no ring of the kernel", Skipped: true},
		{Package: "shop/fresh", Side: "a", Why: "no benchmarks"},
	} {
		if !slices.ContainsFunc(r.Missing, func(m Missing) bool {
			return m.Package == want.Package && m.Name == want.Name && m.Side == want.Side &&
				m.Failed == want.Failed && m.Skipped == want.Skipped && strings.Contains(m.Why, want.Why)
		}) {
			t.Errorf("%+v is not told of in %+v", want, r.Missing)
		}
	}
	if len(r.Missing) != 7 {
		t.Errorf("missing: %+v", r.Missing)
	}
}

// checkFiles reads the files that benchstat would.
func checkFiles(t *testing.T, out string, r *Report) {
	t.Helper()
	for i, name := range []string{OldFile, NewFile} {
		f, err := os.Open(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		reader, n := benchfmt.NewReader(f, name), 0
		for reader.Scan() {
			result, ok := reader.Result().(*benchfmt.Result)
			if !ok {
				t.Fatalf("%s: %v", name, reader.Result())
			}
			n++
			if result.GetConfig("pkg") != "shop/codec" || result.GetConfig("goos") == "" ||
				!strings.HasPrefix(result.GetConfig("commit"), r.Sides[i].Commit) {
				t.Fatalf("%s: configuration %v", name, result.Config)
			}
		}
		if want := r.Rounds * len(r.Benchmarks); n != want || reader.Err() != nil {
			t.Errorf("%s has %d results, want %d (%v)", name, n, want, reader.Err())
		}
	}
	data, err := os.ReadFile(filepath.Join(out, ReportFile))
	var back Report
	if err != nil || json.Unmarshal(data, &back) != nil || back.Schema != Schema || back.Verdict != r.Verdict {
		t.Errorf("%s: %v, %+v", ReportFile, err, back)
	}
}

// checkClean looks for worktrees that were left behind.
func checkClean(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("git", "worktree", "list")
	cmd.Dir = dir
	if out, err := cmd.Output(); err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("worktrees are left behind: %s%v", out, err)
	}
}

const waits = `package shop

import (
	"os"
	"strconv"
	"testing"
	"time"
)

func spin(n int) (sum uint32) {
	for i := range uint32(n) {
		sum = sum*31 + i
	}
	return sum
}

func BenchmarkWork(b *testing.B) {
	n, _ := strconv.Atoi(os.Getenv("WORK"))
	for b.Loop() {
		spin(1000 * (1 + n))
	}
}

func BenchmarkHangs(b *testing.B) {
	if path := os.Getenv("PID_FILE"); path != "" && (b.N > 1 || os.Getenv("AT_ONCE") != "") {
		_ = os.WriteFile(path+".new", []byte(strconv.Itoa(os.Getpid())), 0o600)
		_ = os.Rename(path+".new", path)
		time.Sleep(time.Hour)
	}
}
`

// TestEnvironments: one binary, two environments, whose values are not printed.
func TestEnvironments(t *testing.T) {
	o := quick(t, module(t, map[string]string{"work_test.go": waits}))
	o.Bench, o.Rounds, o.BenchTime, o.Sides = "Work", 12, "5ms", []Side{{Env: []string{"WORK=70", "SECRET=hidden"}},
		{Env: []string{"WORK=0"}}}
	r := run(t, o)
	if m := r.find(t, "Work").metric(t, "sec/op"); r.Verdict == verify.Regression || m.Verdict != verify.Improvement || m.Estimate > -0.5 {
		t.Errorf("%s: %s, %+v", r.Verdict, r.Why, m)
	}
	data, err := os.ReadFile(filepath.Join(o.Out, ReportFile))
	if err != nil || bytes.Contains(data, []byte("hidden")) || !bytes.Contains(data, []byte("SECRET=...")) {
		t.Errorf("%v: %s", err, data)
	}
}

// TestInterrupted: the measurements are kept, and no launch survives.
func TestInterrupted(t *testing.T) {
	dir := module(t, map[string]string{"work_test.go": waits})
	pidFile := filepath.Join(t.TempDir(), "pid")
	t.Setenv("PID_FILE", pidFile)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o := quick(t, dir)
	o.Progress = func(string) {}
	hung := make(chan struct{})
	go func() {
		defer close(hung)
		for ctx.Err() == nil {
			if _, err := os.Stat(pidFile); err == nil {
				stop()
			}
		}
	}()
	r, err := Run(ctx, o)
	<-hung
	if err != nil || !r.Interrupted || r.Rounds != 0 || !r.Undecided() {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(o.Out, ReportFile)); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		t.Errorf("process %d lives on (%v)", pid, err)
	}

	t.Setenv("AT_ONCE", "1")
	o = quick(t, dir)
	o.MaxTime = 2e9
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrTime) {
		t.Errorf("a benchmark that never ends: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	dir := module(t, map[string]string{
		"work_test.go":    waits,
		"plain/plain.go":  "package plain\n",
		"bad/bad_test.go": "package bad\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) { missing() }\n",
		"exit/x_test.go": "package exit\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n" +
			"func TestMain(m *testing.M) { os.Exit(3) }\n\nfunc BenchmarkX(b *testing.B) {}\n",
		"noisy/n_test.go":  "package noisy\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) { if b.N > 1 { print(\"x\") } }\n",
		"tagged/t_test.go": "//go:build fast\n\npackage tagged\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) {}\n",
	})
	commit(t, dir, "v1")
	for name, c := range map[string]struct {
		change func(o *Options)
		hint   string
	}{
		"unknown revision":   {func(o *Options) { o.Sides = []Side{{Revision: "v9"}, {}} }, `no revision "v9"`},
		"a flag for one":     {func(o *Options) { o.Sides = []Side{{Revision: "--force"}, {}} }, "no revision"},
		"no benchmarks":      {func(o *Options) { o.Patterns = []string{"./plain"} }, "has benchmarks"},
		"tags are missing":   {func(o *Options) { o.Patterns = []string{"./tagged"} }, "--tags"},
		"no package":         {func(o *Options) { o.Patterns = []string{"./nowhere"} }, "nowhere"},
		"a flag for another": {func(o *Options) { o.Patterns = []string{"-x"} }, "not a package"},
		"nothing matches":    {func(o *Options) { o.Bench = "Nothing" }, "no benchmark matches"},
		"does not build":     {func(o *Options) { o.Patterns = []string{"./bad"} }, "undefined: missing"},
		"environment":        {func(o *Options) { o.Sides = []Side{{Env: []string{"=1"}}, {}} }, "not K=V"},
		"benchtime":          {func(o *Options) { o.BenchTime = "0x" }, "benchtime"},
		"rounds":             {func(o *Options) { o.Rounds = 1 }, "too few"},
		"absolute":           {func(o *Options) { o.Patterns, o.Sides = []string{dir}, []Side{{Revision: "v1"}, {}} }, "by its path in the repository"},
	} {
		o := quick(t, dir)
		c.change(&o)
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%s: %v, want %q", name, err, c.hint)
		}
		if _, err := os.Stat(o.Out); err == nil {
			t.Errorf("%s: a folder of results is left behind", name)
		}
	}
	checkClean(t, dir)
	o := quick(t, dir)
	o.Patterns = []string{"./exit"}
	if r := run(t, o); !r.Undecided() || len(r.Missing) != 1 || !strings.Contains(r.Missing[0].Why, "exit status 3") {
		t.Errorf("tests that end by themselves: %+v", r.Missing)
	}
}
