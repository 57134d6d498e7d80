package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/web/webtest"
)

// pageSources returns the folder of the pages' sources, whose browser tests walk through them.
func pageSources(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(checkout, "web", "page"))
	if err != nil {
		t.Fatal(err)
	}
	webtest.Modules(t, dir) // before anything runs
	webtest.Chromium(t)
	return dir
}

// locked is a service whose requests wait for a lock that one of them holds asleep, however fast the host is.
const locked = `var mu sync.Mutex
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		fmt.Fprintln(w, "hello")
	})`

// TestRealRunInBrowser watches a run of a real service until its charts are full and its findings so far are shown,
// marks a moment and stops it: the page becomes the report of the bundle.
func TestRealRunInBrowser(t *testing.T) {
	t.Parallel()
	pages := pageSources(t)
	bundle := filepath.Join(t.TempDir(), "bundle")
	scenario := scenarioFile(t, service(t, locked), freePort(t), "load: {connections: 8, duration: 30m, warmup: 500ms}\n")
	cmd, url, stderr := livePage(t, t.TempDir(), scenario, "-o", bundle, "--web", "127.0.0.1:0", "--plain")
	var s struct {
		Console, Errors, Findings, Marks, Figures, Marked []string
		SoFar, Missed, Address, Headline                  string
		Charts                                            map[string]int
	}
	webtest.Walk(t, pages, "run.mjs", &s, url, webtest.Shots(t))
	_ = cmd.Wait() // only its exit code counts
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
		t.Errorf("exit %d:\n%s", code, stderr.String())
	}
	if len(s.Console)+len(s.Errors) > 0 || s.Missed != "0" {
		t.Errorf("console %q, errors %q, %s windows missed", s.Console, s.Errors, s.Missed)
	}
	for id, pixels := range s.Charts {
		if pixels < 1000 {
			t.Errorf("chart %s drew %d pixels", id, pixels)
		}
	}
	// A host without a CPU to spare postpones the assessment, and the page says so.
	if judged := strings.HasPrefix(s.SoFar, "Based on the first "); judged != slices.Contains(s.Findings, "Requests wait for a lock") {
		t.Errorf("findings so far %q under %q", s.Findings, s.SoFar)
	}
	rec, err := record.Open(bundle)
	if err != nil {
		t.Fatal(err)
	}
	var summary record.Summary
	if err := rec.ReadJSON(record.SummaryFile, &summary); err != nil {
		t.Fatal(err)
	}
	if want := report.HeadlineOf(&summary).Title; s.Headline != want || s.Address != url {
		t.Errorf("%s shows %q, want %q at %s", s.Address, s.Headline, want, url)
	}
	l := summary.Load
	if want := []string{notation.Rate(l.Rate), notation.Duration(l.Latency.P50)}; len(s.Figures) < 6 || !slices.Equal(s.Figures[:2], want) {
		t.Errorf("figures %q, want %q first", s.Figures, want)
	}
	if len(rec.Run.Marks) != 1 || !slices.Equal(s.Marks, []string{"deploy <b>"}) || len(s.Marked) != 1 ||
		!strings.HasSuffix(s.Marked[0], "deploy <b>") {
		t.Errorf("marks: %q while it ran, %q in the report, %+v in the bundle", s.Marks, s.Marked, rec.Run.Marks)
	}
}

// TestKneeInBrowser watches the steps of a real search until the second has windows, and ends it there: the page
// continues to the answer that the terminal prints. The search would soak for half an hour, so that a busy browser is in
// time; only one whose generator gets no CPU ends before.
func TestKneeInBrowser(t *testing.T) {
	t.Parallel()
	pages := pageSources(t)
	scenario := scenarioFile(t, service(t, healthy), freePort(t), "")
	var stdout bytes.Buffer
	cmd := exec.CommandContext(t.Context(), redline, "knee", scenario, "-o", "kept", "--web", "127.0.0.1:0",
		"--max-time", "1h", "--soak", "30m")
	cmd.Dir, cmd.Stdout = t.TempDir(), &stdout
	url, stderr := pageOf(t, cmd, "watch it")
	var s struct {
		Console, Errors, Phases, Folders []string
		Heading, Text                    string
		Ended, Gone                      bool // by itself; so, before the page had the answer
	}
	webtest.Walk(t, pages, "knee.mjs", &s, url, webtest.Shots(t))
	_ = cmd.Wait() // only its exit code counts
	if s.Gone {    // after the half minute that it waits for browsers
		if cmd.ProcessState.ExitCode() == cli.ExitInterrupted || !strings.Contains(stdout.String(), "generator") {
			t.Errorf("the search ended by itself, and not because of its generator:\n%s%s", stdout.String(), stderr.String())
		}
		t.Log("the search ended for want of CPU, and the browser got none either: the page's answer was not seen")
		return
	}
	if code := cmd.ProcessState.ExitCode(); !s.Ended && code != cli.ExitInterrupted {
		t.Errorf("exit %d:\n%s", code, stderr.String())
	}
	if len(s.Console)+len(s.Errors) > 0 || !s.Ended && len(s.Folders) == 0 || slices.Contains(s.Phases, "") {
		t.Errorf("console %q, errors %q, steps %q in %q", s.Console, s.Errors, s.Phases, s.Folders)
	}
	if want := strings.TrimSpace(stdout.String()); want == "" || strings.TrimSpace(s.Text) != want || s.Heading != "redline knee" {
		t.Errorf("the page ends with %q:\n%s\nwant\n%s", s.Heading, s.Text, want)
	}
}
