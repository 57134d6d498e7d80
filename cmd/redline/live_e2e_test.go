package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/run"
)

// livePage starts a run with --web and returns where its page is, once its load is in progress.
func livePage(t *testing.T, dir string, args ...string) (cmd *exec.Cmd, url string, stderr *heard) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), redline, append([]string{"run"}, args...)...)
	cmd.Dir = dir
	url, stderr = pageOf(t, cmd, "measuring", "warm-up")
	return cmd, url, stderr
}

// pageOf starts a command with --web and returns where its page is, once it has printed one of the words.
func pageOf(t *testing.T, cmd *exec.Cmd, words ...string) (url string, stderr *heard) {
	t.Helper()
	stderr = &heard{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`watch it at (http\S+/)`)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		said := stderr.String()
		loaded := slices.ContainsFunc(words, func(word string) bool { return strings.Contains(said, word) })
		if found := address.FindStringSubmatch(said); found != nil && loaded {
			return found[1], stderr
		}
		if t.Context().Err() != nil {
			t.Fatalf("no page:\n%s", said)
		}
	}
	return "", nil
}

// watchSteps follows a page to its end as a browser does, and returns the folders of the runs that it showed, and the
// result.
func watchSteps(t *testing.T, url string) (shown []string, result string) {
	t.Helper()
	events, err := http.Get(url + "events?viewer=test")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	lines, name := bufio.NewScanner(events.Body), ""
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		if field == "event" {
			name = value
		}
		if field != "data" || name != "all" && name != "end" {
			continue
		}
		var e struct{ Dir string }
		if err := json.Unmarshal([]byte(value), &e); err != nil {
			t.Fatal(err)
		}
		if name == "end" {
			break
		}
		if e.Dir != "" {
			shown = append(shown, filepath.Base(e.Dir))
		}
	}
	answer, err := http.Get(url + "result?viewer=test")
	if err != nil {
		t.Fatalf("%v after %q", err, shown)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("the result: %s, %v", answer.Status, err)
	}
	return shown, string(page)
}

// secretOf extracts the secret with which the page authenticates.
func secretOf(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	packed := regexp.MustCompile(`id="data"[^>]*>([^<]*)<`).FindSubmatch(page)
	zipped, err := base64.StdEncoding.DecodeString(string(packed[1]))
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	var data struct{ Secret string }
	if err := json.NewDecoder(zip).Decode(&data); err != nil {
		t.Fatal(err)
	}
	return data.Secret
}

func post(t *testing.T, url, secret, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Redline-Secret", secret)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %d %s", url, answer.StatusCode, body)
	}
}

// TestWatchedRunIsStoppedAndKept: a mark is in the bundle and its report, and stopping early keeps the
// measurements, as Ctrl-C does. The process waits for no browser.
func TestWatchedRunIsStoppedAndKept(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	defer service.Close()
	dir := t.TempDir()
	cmd, url, stderr := livePage(t, dir, service.URL, "--web", "127.0.0.1:0", "--plain", "--no-observe", "-c", "2",
		"--warmup", "100ms", "-d", "10m", "-o", "bundle")
	secret := secretOf(t, url)
	post(t, url+"mark", secret, "deploy <b>")
	awaitWindows(t, filepath.Join(dir, "bundle"))
	post(t, url+"stop", secret, "")
	_ = cmd.Wait() // only its exit code counts
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted || !strings.Contains(stderr.String(), "are kept in bundle") {
		t.Errorf("exit %d:\n%s", code, stderr.String())
	}
	rec, err := record.Open(filepath.Join(dir, "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	if m := rec.Run.Marks; rec.Run.State != record.Aborted || rec.Run.Why != run.ErrStopped.Error() ||
		len(m) != 1 || m[0].Text != "deploy <b>" {
		t.Errorf("state %s, why %q, marks %+v", rec.Run.State, rec.Run.Why, m)
	}
	if _, err := os.Stat(filepath.Join(dir, "bundle", "report.html")); err != nil {
		t.Error(err)
	}
}

// TestWebAddressThatIsTaken is an input error, before anything is started.
func TestWebAddressThatIsTaken(t *testing.T) {
	taken := httptest.NewServer(nil)
	defer taken.Close()
	r := invoke(t, "run", taken.URL, "--web="+strings.TrimPrefix(taken.URL, "http://"))
	if r.code != cli.ExitUsage || !strings.Contains(r.stderr, "--web: ") || !strings.Contains(r.stderr, "address already in use") {
		t.Errorf("%d: %s", r.code, r.stderr)
	}
}
