package web_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/record/stacks"
	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web/webtest"
)

// nodeModules returns the folder of the page's sources with its packages installed.
func nodeModules(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("page")
	must(t, err)
	webtest.Modules(t, dir)
	return dir
}

func TestPageIsBuiltFromItsSources(t *testing.T) {
	t.Parallel()
	dir := nodeModules(t)
	fresh := t.TempDir()
	if out, err := webtest.Command(t, dir, "sh", "build.sh", fresh); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"report.js", "live.js", "shelf.js", "compare.js", "decision.js", "lab.js", "page.css"} {
		want, err := os.ReadFile(filepath.Join(fresh, name))
		must(t, err)
		got, err := os.ReadFile(filepath.Join(dir, "dist", name))
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("web/page/dist/%s is not what its sources build; run web/page/build.sh", name)
		}
	}
}

func TestPageSourcesInsertTextOnly(t *testing.T) {
	files, err := filepath.Glob("page/src/*.ts*")
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

// seen is what page/test/page.mjs returns.
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
	Flames   *struct {
		Tabs                          []string
		Painted                       []int
		Card, Chosen, Found, Sandwich string
	}
	Paper struct {
		Canvases  int
		Ink, Left string
		Off       []string // canvases that are wider than the page, or drawn for another width
	}
	File    string // of the page; the browser downloads beside it
	Stories []struct {
		Open  bool
		Lead  string
		Steps int
	}
}

// browse opens a page in Chromium.
func browse(t *testing.T, html string) seen {
	t.Helper()
	dir := nodeModules(t)
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, os.WriteFile(file, []byte(html), 0o644))
	var s seen
	webtest.Walk(t, dir, "page.mjs", &s, file, webtest.Shots(t))
	s.File = file
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
	if s.Paper.Ink != "#17202b" || s.Paper.Left != "" || len(s.Paper.Off) > 0 || s.Paper.Canvases < len(s.Canvases) {
		t.Errorf("on paper: %+v, want the %d charts of the screen within it, in the colours of light", s.Paper, len(s.Canvases))
	}
	return s
}

func TestPageInBrowser(t *testing.T) {
	t.Parallel()
	s := browse(t, page(t, reporttest.Bundle(t, reporttest.Options{})))
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

// TestFlameGraphsInBrowser points, zooms, searches, asks for callers, and reads the profile that the
// page offers for download, as pprof does.
func TestFlameGraphsInBrowser(t *testing.T) {
	t.Parallel()
	s := browse(t, page(t, reporttest.Bundle(t, reporttest.Options{})))
	if s.Flames == nil || !slices.Equal(s.Flames.Tabs, []string{"requests", "cpu", "allocs", "goroutine"}) {
		t.Fatalf("flame graphs: %+v", s.Flames)
	}
	if s.Flames.Card != "encoding/json.Marshalencoding/json.Marshal.gototal 310 ms (31 %)self 110 ms (11 %)44 % of its caller" {
		t.Errorf("the card says %q", s.Flames.Card)
	}
	if s.Flames.Chosen != "encoding/json.Marshal" || s.Flames.Found != "31 % in 2 functions" ||
		s.Flames.Sandwich != "example.org/gateway/store.(*Store).Orders" {
		t.Errorf("chosen %q, found %q, sandwich %q", s.Flames.Chosen, s.Flames.Found, s.Flames.Sandwich)
	}
	data, err := os.ReadFile(s.File + ".pb.gz")
	must(t, err)
	p, err := profile.ParseData(data)
	must(t, err)
	flat, err := stacks.Flatten(p, "CPU time")
	must(t, err)
	if p.DefaultSampleType != "CPU time" || flat.Total != 1e9 || len(flat.Samples) != len(reporttest.Stacks) || len(p.Location) != 7 {
		t.Errorf("the profile that was downloaded: %v", p)
	}
}

func TestHostilePageInBrowser(t *testing.T) {
	t.Parallel()
	evil := `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">` + "\u202e"
	if s := browse(t, page(t, reporttest.Bundle(t, reporttest.Options{Evil: evil}))); s.Title == "owned" {
		t.Error("a string of the record ran as script")
	}
}

// TestDamagedPageInBrowser: a file that was truncated on its way shows its answer, and says what is lost.
func TestDamagedPageInBrowser(t *testing.T) {
	t.Parallel()
	html := page(t, reporttest.Bundle(t, reporttest.Options{}))
	at := strings.Index(html, `id="later-charts"`)
	seen := show(t, "damaged", html[:at+2000], "h1", "#findings .warning li", "#load .quantiles tr", "#series")
	if got := seen.Texts["h1"]; !slices.Equal(got, []string{"Requests wait for a database connection"}) {
		t.Errorf("headline %q", got)
	}
	lost := strings.Join(seen.Texts["#findings .warning li"], "\n")
	for _, part := range []string{"charts", "flames", "others"} {
		if !strings.Contains(lost, part+": this page is damaged") {
			t.Errorf("what is lost: %q, want %s", lost, part)
		}
	}
	if len(seen.Texts["#load .quantiles tr"]) < 5 || len(seen.Texts["#series"]) != 0 {
		t.Errorf("percentiles %q, charts %d", seen.Texts["#load .quantiles tr"], len(seen.Texts["#series"]))
	}
}

func TestKilledPageInBrowser(t *testing.T) {
	t.Parallel()
	s := browse(t, page(t, reporttest.Bundle(t, reporttest.Options{Killed: true, Bare: true})))
	if s.Headline != "Bottleneck unknown." || len(s.Canvases) == 0 {
		t.Errorf("headline %q, %d canvases", s.Headline, len(s.Canvases))
	}
}
