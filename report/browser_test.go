package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// nodeModules returns the folder of the page's sources with its packages
// installed, and skips the test, saying why, where they cannot be had. Continuous
// integration needs Node.js 20 or later with npm, and a registry.
func nodeModules(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: the page's own tests take seconds")
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed (apt-get install nodejs npm, version 20 or later): %v", tool, err)
		}
	}
	dir, err := filepath.Abs("html")
	must(t, err)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "esbuild")); err == nil {
		return dir
	}
	if out, err := command(t, dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		t.Skipf("npm ci cannot install the page's packages: %v\n%s", err, out)
	}
	return dir
}

func command(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String() + errs.String(), fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out.String(), nil
}

func TestPageIsBuiltFromItsSources(t *testing.T) {
	dir := nodeModules(t)
	fresh := t.TempDir()
	if out, err := command(t, dir, "sh", "build.sh", fresh); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"page.js", "page.css"} {
		want, err := os.ReadFile(filepath.Join(fresh, name))
		must(t, err)
		got, err := os.ReadFile(filepath.Join(dir, "dist", name))
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("report/html/dist/%s is not what its sources build; run report/html/build.sh", name)
		}
	}
}

func TestPageSourcesInsertTextOnly(t *testing.T) {
	files, err := filepath.Glob("html/src/*.ts*")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no sources")
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		must(t, err)
		for _, banned := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
			"new Function", "srcdoc"} {
			if bytes.Contains(source, []byte(banned)) {
				t.Errorf("%s uses %s: a string of the record could become markup", file, banned)
			}
		}
	}
}

// seen is what html/test/page.mjs prints.
type seen struct {
	Console, Requests, Errors, Unnamed []string
	Title, Headline, Reading           string
	Findings, Bands, Parts, Timelines  int
	Injected, TableRows                int
	Opened                             int // ms from navigation to the rendered page
	Zoomed                             bool
	Canvases                           []struct {
		Chart  string
		Pixels int
	}
	Instants []string
	Overflow map[string]float64
	Stories  []struct {
		Open  bool
		Lead  string
		Steps int
	}
}

// browse opens a page in Chromium.
func browse(t *testing.T, html string) seen {
	t.Helper()
	dir := nodeModules(t)
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium (apt-get install chromium)")
	}
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, os.WriteFile(file, []byte(html), 0o644))
	out, err := command(t, dir, "node", "test/page.mjs", browser, file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var s seen
	must(t, json.Unmarshal([]byte(out), &s))
	t.Logf("a page of %d bytes was rendered %d ms after its navigation began", len(html), s.Opened)
	if len(s.Console)+len(s.Errors) > 0 {
		t.Errorf("console: %q, errors: %q", s.Console, s.Errors)
	}
	if len(s.Requests) > 0 {
		t.Errorf("the page asked the network for %q", s.Requests)
	}
	if s.Injected > 0 {
		t.Errorf("%d elements that the page does not make", s.Injected)
	}
	if len(s.Unnamed) > 0 {
		t.Errorf("controls and images without a name: %q", s.Unnamed)
	}
	for width, pixels := range s.Overflow {
		if pixels > 0 {
			t.Errorf("%s: the page is %v px wider than the screen", width, pixels)
		}
	}
	return s
}

func TestPageInBrowser(t *testing.T) {
	s := browse(t, page(t, bundle(t, bundleOptions{})))
	if s.Headline != "Requests wait for a database connection" || s.Findings != 4 {
		t.Errorf("headline %q with %d findings", s.Headline, s.Findings)
	}
	if len(s.Canvases) != 18 {
		t.Errorf("%d canvases, want the spectrum and 17 charts", len(s.Canvases))
	}
	for _, c := range s.Canvases {
		if c.Pixels < 1000 {
			t.Errorf("%s drew %d pixels", c.Chart, c.Pixels)
		}
	}
	if len(s.Instants) != 17 {
		t.Errorf("%d cursors", len(s.Instants))
	}
	for _, instant := range s.Instants {
		if instant == "" || instant != s.Instants[0] {
			t.Errorf("cursors at %q are not at one instant", s.Instants)
			break
		}
	}
	if s.Reading == "" || !s.Zoomed || s.TableRows != 12 {
		t.Errorf("reading %q, zoomed %v, %d rows in the table", s.Reading, s.Zoomed, s.TableRows)
	}
	if s.Bands != 3 || s.Parts < 12 || s.Timelines != 8 {
		t.Errorf("anatomy: %d bands, %d parts, %d timelines", s.Bands, s.Parts, s.Timelines)
	}
	if len(s.Stories) != 5 || !s.Stories[0].Open || s.Stories[1].Open || s.Stories[0].Steps == 0 ||
		!strings.Contains(s.Stories[0].Lead, "it waited for a free connection of the database pool") {
		t.Errorf("stories of the slowest: %+v", s.Stories)
	}
}

func TestHostilePageInBrowser(t *testing.T) {
	evil := `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">` + "\u202e"
	if s := browse(t, page(t, bundle(t, bundleOptions{evil: evil}))); s.Title == "owned" {
		t.Error("a string of the record ran as script")
	}
}

func TestKilledPageInBrowser(t *testing.T) {
	s := browse(t, page(t, bundle(t, bundleOptions{killed: true, bare: true})))
	if s.Headline != "Bottleneck unknown." || len(s.Canvases) == 0 {
		t.Errorf("headline %q, %d canvases", s.Headline, len(s.Canvases))
	}
}
