package main

// redline gate through the built command: what CI relies on.

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// TestGate runs whole sessions side by side: their precision does not matter, and
// most of each is waiting for launches. One is interrupted and resumed.
func TestGate(t *testing.T) {
	s := newStall(t)
	same, failing := freePort(t), freePort(t)
	s.write(t, "same.yaml", s.scenario(same))
	s.write(t, "failing.yaml", s.scenario(failing))
	s.env = []string{"CI=true"}
	identical := s.begin(t, "ab", "--build-a", "./svc@v1", "--build-b", "./svc@v1", "same.yaml", "--pairs", "7",
		"-o", "runs/same", "--json")
	errors := s.begin(t, "ab", "--env-a", "MODE=", "--env-b", "MODE=some", "failing.yaml", "--pairs", "7", "-o", "runs/failing")
	await(t, "session", func() bool { return blocksLogged(filepath.Join(s.dir, "runs/failing")) > 0 }) // built

	s.slower(t)
	gate := []string{"gate", "--base", "v1", "shop.yaml", "--pairs", "7", "-o", "runs/gate"}
	interrupted := s.begin(t, gate...)
	await(t, "pair", func() bool { return blocksLogged(filepath.Join(s.dir, "runs/gate")) >= 2 })
	interrupted.cmd.Process.Signal(syscall.SIGINT)
	r := finish(t, interrupted)
	if r.code != cli.ExitInterrupted ||
		!strings.Contains(r.stderr, "interrupted: continue with the same command and -o runs/gate --resume") {
		t.Errorf("exit %d, want %d and how to go on\n%s", r.code, cli.ExitInterrupted, r.stderr)
	}
	kept := readFile(t, filepath.Join(s.dir, "runs/gate/blocks.jsonl"))
	refused := map[string][]string{
		"its side a is not that of this command":   {"ab", "--env-b", "MODE=", "shop.yaml", "-o", "runs/gate", "--resume"},
		"its scenario is not that of this command": append(gate, "-c", "2", "--resume"),
	}
	if strings.Contains(kept, `"turn_ns":`) { // else the sides could not take turns on this machine, which the log says
		refused["the session began with turns of "] = append(gate, "--one-at-a-time", "--resume")
	}
	for why, args := range refused {
		if r := finish(t, s.begin(t, args...)); r.code != cli.ExitUsage || !strings.Contains(r.stderr, why) {
			t.Errorf("%s: exit %d\n%s", why, r.code, r.stderr)
		}
	}
	if r := finish(t, s.begin(t, gate...)); r.code != cli.ExitUsage || !strings.Contains(r.stderr, "--resume continues it") {
		t.Errorf("begun over another: exit %d\n%s", r.code, r.stderr)
	}
	resumed := s.begin(t, append(gate, "--resume", "--markdown", "out.md", "--junit", "out.xml", "--sarif", "out.sarif",
		"--html", "out.html")...)

	t.Run("identical sides", func(t *testing.T) {
		r := finish(t, identical)
		if starved(t, r) {
			return
		}
		out := resultOf(t, r)
		// How rarely identical sides are called different is for package verify to test, on
		// drawn sessions: seven equal signs occur once in 128. Here the code must be the verdict's.
		codes := map[verify.Verdict]int{verify.Pass: cli.ExitOK, verify.Improvement: cli.ExitOK, verify.Regression: cli.ExitFailed,
			verify.Inconclusive: cli.ExitUndecided}
		if want, decided := codes[out.Verdict]; !decided || r.code != want {
			t.Errorf("exit %d: %s, %s\n%s", r.code, out.Verdict, out.Why, r.stderr)
		}
		if out.Turn == 0 && !strings.Contains(out.Apart, "the generator could not keep up") {
			t.Errorf("the sides took no turns: %s", out.Apart)
		}
		// Where pairs take long, there is no time to compare side a with itself.
		itself := strings.Contains(r.stderr, "comparing side a with itself, 1 of ")
		if strings.Contains(r.stderr, "\x1b") || itself != (out.AA.Pairs > 0) ||
			!strings.Contains(r.stderr, "\npair 7 of at most 7") {
			t.Errorf("progress where there is no terminal:\n%q", r.stderr)
		}
		if saved := readFile(t, filepath.Join(s.dir, "runs/same", session.ResultFile)); !strings.Contains(saved,
			`"verdict": "`+string(out.Verdict)) {
			t.Errorf("ab.json says otherwise: %s", saved)
		}
	})
	t.Run("one request in four fails", func(t *testing.T) {
		r := finish(t, errors)
		if starved(t, r) {
			return
		}
		if r.code != cli.ExitFailed || !strings.Contains(r.stdout, "REGRESSION: side b fails ") ||
			!strings.Contains(r.stdout, "::error title=redline regression::side b fails ") {
			t.Errorf("exit %d, want %d\n%s%s", r.code, cli.ExitFailed, r.stdout, r.stderr)
		}
		if !strings.Contains(r.stdout, "one side up at a time (requests failed while both were up)") {
			t.Errorf("the method is not reported:\n%s", r.stdout)
		}
	})
	t.Run("regression", func(t *testing.T) {
		r := finish(t, resumed)
		if starved(t, r) {
			return
		}
		if r.code != cli.ExitFailed {
			t.Fatalf("exit %d, want %d\n%s%s", r.code, cli.ExitFailed, r.stdout, r.stderr)
		}
		if now := readFile(t, filepath.Join(s.dir, "runs/gate/blocks.jsonl")); !strings.HasPrefix(now, kept) || now == kept {
			t.Error("it did not go on with the pairs that it had")
		}
		s.regressionTold(t, r)
	})
	s.left(t, result{})
}

// starved reports whether the machine, busy with other tests, gave a session's generator or both sides no CPU. Then no verdict can be
// true but that the session is invalid: it must say so.
func starved(t *testing.T, r result) bool {
	t.Helper()
	invalid := "::error title=redline invalid::side "
	if r.code != cli.ExitUndecided || !strings.Contains(r.stdout+r.stderr, invalid) {
		return false
	}
	for line := range strings.Lines(r.stdout + r.stderr) {
		if strings.HasPrefix(line, invalid) && !strings.Contains(line, ": the generator could not keep up: ") &&
			!strings.Contains(line, ": no request ended within the block") {
			t.Errorf("invalid for another reason: %s", line)
		}
	}
	t.Log("the load got no CPU: the session is invalid, and its verdict is not checked")
	return true
}

// regressionTold checks every form in which a regression is reported.
func (s stall) regressionTold(t *testing.T, r result) {
	t.Helper()
	commit := strings.TrimSpace(s.git(t, "rev-parse", "v1"))[:12]
	for _, want := range []string{
		"REGRESSION: worse: cpu_per_request\n", "\na  ./svc@v1 at " + commit + "\n", "\nb  ./svc (work tree) at " +
			commit + " with changes\n",
		"\n::error title=redline regression::worse: cpu_per_request\n", "\n::error title=redline cpu_per_request::",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	if !strings.Contains(r.stderr, "the work tree has uncommitted changes") {
		t.Errorf("the changes are not reported:\n%s", r.stderr)
	}
	if text := readFile(t, filepath.Join(s.dir, "out.md")); !regexp.MustCompile("(?m)^\\| `cpu_per_request` \\|.*\\| "+
		"regression \\|$").MatchString(text) || !strings.HasPrefix(text, "### redline: regression\n") {
		t.Errorf("Markdown:\n%s", text)
	}
	s.differenceShown(t, r)
	if got := readJUnit(t, filepath.Join(s.dir, "out.xml")); got["session"] != "failure" || got["cpu_per_request"] != "failure" {
		t.Errorf("JUnit shows %v", got)
	}
	if got := readSARIF(t, filepath.Join(s.dir, "out.sarif")); got["cpu_per_request"] != "error" {
		t.Errorf("SARIF shows %v", got)
	}
}

// differenceShown: each side was launched once more, with profiles and traces, for the page alone.
func (s stall) differenceShown(t *testing.T, r result) {
	t.Helper()
	if strings.Contains(r.stderr, "was not observed") {
		t.Errorf("a side was not observed:\n%s", r.stderr)
	}
	for _, side := range []string{"a", "b"} {
		rec, err := record.Open(filepath.Join(s.dir, "runs/gate", "observed-"+side))
		if err != nil {
			t.Fatal(err)
		}
		if len(rec.Profiles("cpu")) == 0 || len(rec.Traces()) == 0 {
			t.Errorf("side %s: %d CPU profiles, %d traces", side, len(rec.Profiles("cpu")), len(rec.Traces()))
		}
	}
	if html := readFile(t, filepath.Join(s.dir, "out.html")); !strings.Contains(html, "redline regression") {
		t.Errorf("a page of %d bytes", len(html))
	}
}

// TestGateWithoutABuild: the message says which side does not build, and what the compiler says.
func TestGateWithoutABuild(t *testing.T) {
	t.Parallel()
	s := newStall(t)
	s.write(t, "svc/main.go", strings.Replace(shopSource, "rounds = 300", "rounds = undefined", 1))
	s.git(t, "commit", "-q", "-a", "-m", "two")
	s.write(t, "nothing.yaml", "requests: [{get: http://"+s.address+"/}]\n")
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"work tree":        {[]string{"--base", "v1", "shop.yaml"}, []string{"side b: build ./svc: ", "./main.go:13:16: undefined: undefined"}},
		"base":             {[]string{"--base", "HEAD", "shop.yaml"}, []string{"side a: at HEAD: build ", "undefined: undefined"}},
		"unknown revision": {[]string{"--base", "v9", "shop.yaml"}, []string{`side a: build ./svc@v9: no revision "v9" here (hint: git fetch`}},
		"no revision":      {[]string{"shop.yaml"}, []string{"hint: --base origin/main"}},
		"nothing to build": {[]string{"--base", "v1", "nothing.yaml"}, []string{"hint: --build ./cmd/svc"}},
		"no such folder":   {[]string{"--base", "v1", "--build", "./other", "shop.yaml"}, []string{"side a: build ./other@v1: that revision has no folder other"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := finish(t, s.begin(t, append([]string{"gate"}, c.args...)...))
			for _, want := range c.want {
				if r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
					t.Errorf("exit %d, want %d and %q\n%s", r.code, cli.ExitUsage, want, r.stderr)
				}
			}
			s.left(t, r)
		})
	}
	t.Run("reports", func(t *testing.T) {
		s.env = []string{"CI=true"}
		r := finish(t, s.begin(t, "gate", "--base", "HEAD", "shop.yaml", "--markdown", "out.md", "--junit",
			"out.xml", "--sarif", "out.sarif"))
		if r.code != cli.ExitUsage || !strings.Contains(r.stderr, "::error title=redline invalid::side a: at HEAD: build ") {
			t.Errorf("exit %d, want %d and an annotation\n%s", r.code, cli.ExitUsage, r.stderr)
		}
		if text := readFile(t, filepath.Join(s.dir, "out.md")); !strings.HasPrefix(text,
			"### redline: invalid\n\nside a: at HEAD: build ") {
			t.Errorf("Markdown:\n%s", text)
		}
		if got := readJUnit(t, filepath.Join(s.dir, "out.xml")); got["session"] != "error" {
			t.Errorf("JUnit shows %v", got)
		}
		if got := readSARIF(t, filepath.Join(s.dir, "out.sarif")); got["session"] != "error" {
			t.Errorf("SARIF shows %v", got)
		}
	})
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// readJUnit returns what became of each test case: passed, failure, error or
// skipped.
func readJUnit(t *testing.T, path string) map[string]string {
	t.Helper()
	var suite struct {
		XMLName xml.Name `xml:"testsuite"`
		Tests   int      `xml:"tests,attr"`
		Cases   []struct {
			Name string                       `xml:"name,attr"`
			Body []struct{ XMLName xml.Name } `xml:",any"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal([]byte(readFile(t, path)), &suite); err != nil || suite.Tests != len(suite.Cases) {
		t.Fatalf("%s: %v, %d tests and %d cases", path, err, suite.Tests, len(suite.Cases))
	}
	out := map[string]string{}
	for _, c := range suite.Cases {
		if out[c.Name] = "passed"; len(c.Body) > 0 {
			out[c.Name] = c.Body[0].XMLName.Local
		}
	}
	return out
}

// readSARIF returns the level of each result by rule, once the file has what
// SARIF 2.1.0 requires (sections 3.13, 3.14, 3.18, 3.19, 3.27).
func readSARIF(t *testing.T, path string) map[string]string {
	t.Helper()
	type message struct{ Text *string }
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool *struct {
				Driver *struct {
					Name  string
					Rules []struct {
						ID               string
						ShortDescription *message
					}
				}
			}
			Results []struct {
				RuleID    string
				Level     string
				Message   *message
				Locations []struct {
					PhysicalLocation *struct{ ArtifactLocation *struct{ URI string } }
				}
			}
		}
	}
	d := json.NewDecoder(strings.NewReader(readFile(t, path)))
	d.DisallowUnknownFields()
	if err := d.Decode(&log); err != nil || log.Version != "2.1.0" || log.Schema == "" || len(log.Runs) != 1 {
		t.Fatalf("%s: %v, %+v", path, err, log)
	}
	run := log.Runs[0]
	if run.Tool == nil || run.Tool.Driver == nil || run.Tool.Driver.Name != "redline" {
		t.Fatalf("%s names no tool", path)
	}
	known, levels := map[string]bool{}, map[string]string{}
	for _, rule := range run.Tool.Driver.Rules {
		known[rule.ID] = rule.ShortDescription != nil
	}
	for _, r := range run.Results {
		if !known[r.RuleID] || r.Message == nil || r.Message.Text == nil || *r.Message.Text == "" ||
			len(r.Locations) != 1 || r.Locations[0].PhysicalLocation == nil ||
			r.Locations[0].PhysicalLocation.ArtifactLocation.URI != "shop.yaml" {
			t.Errorf("%s: a result lacks what is required: %+v", path, r)
		}
		levels[r.RuleID] = r.Level
	}
	return levels
}
