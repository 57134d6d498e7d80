package measure

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/knee"
)

// keptKnee is the directory of a session with steps around 800/s.
func keptKnee(t *testing.T, end string, rates ...float64) string {
	t.Helper()
	dir := t.TempDir()
	header, err := json.Marshal(
		knee.Header{Schema: "redline.knee-session/1", Target: "http://127.0.0.1:8080/", Objectives: []string{"p99 < 20ms"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	add := func(s knee.Step) {
		if err := json.NewEncoder(&log).Encode(map[string]any{"step": s}); err != nil {
			t.Fatal(err)
		}
	}
	add(knee.Step{Phase: knee.Light, Launch: 1, Connections: 1, Served: 200, Service: int64(5 * time.Millisecond), Outcome: knee.Holds})
	add(knee.Step{Phase: knee.Up, Launch: 1, Connections: 4, Served: 800, Outcome: knee.Holds})
	for _, rate := range rates {
		s := knee.Step{Phase: knee.Searched, Launch: 1, Rate: rate, Served: min(rate, 800), Outcome: knee.Holds}
		if rate > 800 {
			s.Outcome, s.Why = knee.Breaks, []string{"p99 < 20ms fails: 310 ms"}
		}
		add(s)
	}
	log.WriteString(end)
	for name, content := range map[string][]byte{"knee-session.json": header, "steps.jsonl": log.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// knees runs the verb.
func knees(t *testing.T, args ...string) (out string, code int, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := KneeCommand()
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	cmd.SetArgs(args)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	if err = cmd.ExecuteContext(t.Context()); err != nil {
		code, _ = cli.ExitOf(err)
	}
	return stdout.String(), code, err
}

func TestKneeFromKeptSteps(t *testing.T) {
	through := "{\"end\": {}}\n"
	near := []float64{760, 840, 780, 820, 790, 812, 795, 808}
	out, code, err := knees(t, "--from", keptKnee(t, through, near...))
	if code != cli.ExitOK || !strings.Contains(out, "; then p99 < 20ms fails: 310 ms") ||
		!strings.Contains(out, "search  1       840.0/s") {
		t.Errorf("%v\n%s", err, out)
	}
	for name, c := range map[string]struct {
		dir  string
		code int
		says string
	}{
		"nothing broke": {keptKnee(t, through, 600, 700), cli.ExitUndecided, "UNDECIDED: at least 700.0/s"},
		"killed":        {keptKnee(t, "", near...), cli.ExitUndecided, "INTERRUPTED: "},
	} {
		if out, code, err := knees(t, "--from", c.dir); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s: exit %d, %v\n%s", name, code, err, out)
		}
	}
	markdown := filepath.Join(t.TempDir(), "knee.md")
	out, code, err = knees(t, "--from", keptKnee(t, through, near...), "--json", "--markdown", markdown)
	var a knee.Answer
	if json.Unmarshal([]byte(out), &a) != nil || code != cli.ExitOK || a.Schema != knee.Schema || a.Knee.Low > 800 || a.Knee.High < 800 {
		t.Errorf("%v\n%s", err, out)
	}
	if page, err := os.ReadFile(markdown); err != nil || !strings.Contains(string(page), "| search | 1 | 840.0/s |") {
		t.Errorf("%v\n%s", err, page)
	}
}

// TestKneeFromRefusesFlags: kept steps were judged when they were measured.
func TestKneeFromRefusesFlags(t *testing.T) {
	dir := keptKnee(t, "{\"end\": {}}\n", 760, 840, 780, 820)
	for _, flags := range [][]string{{"--threshold", "p99 < 1ms"}, {"--soak", "10s"}, {"--history", "h.db"}, {"-o", "k"}, {"-v"}} {
		out, code, err := knees(t, append([]string{"--from", dir, "--json"}, flags...)...)
		if code != cli.ExitUsage || !strings.Contains(err.Error(), " would change nothing") || out != "" {
			t.Errorf("%q: exit %d, %v\n%s", flags, code, err, out)
		}
	}
}

func TestKneeRefusesLoad(t *testing.T) {
	const url = "http://127.0.0.1:1/"
	for _, args := range [][]string{
		{url, "--rate", "10/s"}, {url, "-c", "4"}, {url, "-d", "5s"}, {url, "--think", "1s"}, {url, "--no-observe"},
		{url, "--max-time", "5s", "-o", filepath.Join(t.TempDir(), "k")}, {}, {"--from", t.TempDir()}, {"--from", "x", url},
	} {
		if _, code, err := knees(t, args...); code != cli.ExitUsage {
			t.Errorf("%q: exit %d, %v", args, code, err)
		}
	}
}
