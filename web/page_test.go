package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web"
)

func page(t testing.TB, rec *record.Record) string {
	t.Helper()
	var out bytes.Buffer
	s := &record.Summary{State: rec.Run.State}
	if err := rec.ReadJSON(record.SummaryFile, s); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	must(t, web.Report(&out, rec, s))
	return out.String()
}

// packed unpacks an element of a page as its script does.
func packed(t testing.TB, page, id string) []byte {
	t.Helper()
	found := regexp.MustCompile(`id="` + id + `"[^>]*>([^<]*)<`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no %s", id)
	}
	zipped, err := base64.StdEncoding.DecodeString(found[1])
	must(t, err)
	zip, err := gzip.NewReader(bytes.NewReader(zipped))
	must(t, err)
	data, err := io.ReadAll(zip)
	must(t, err)
	return data
}

// pack returns a part of a page's data as the page holds it.
func pack(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails only for an unknown level
	_, err = zip.Write(text)
	err = errors.Join(err, zip.Close())
	return base64.StdEncoding.EncodeToString(b.Bytes()), err
}

func payload(t testing.TB, page string) map[string]any {
	t.Helper()
	var v map[string]any
	must(t, json.Unmarshal(packed(t, page, "data"), &v))
	for _, name := range v["later"].([]any) {
		must(t, json.Unmarshal(packed(t, page, "later-"+name.(string)), &v))
	}
	delete(v, "later")
	return v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func charts(v map[string]any) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, c := range v["charts"].([]any) {
		chart := c.(map[string]any)
		all[chart["id"].(string)] = chart
	}
	return all
}

func TestPage(t *testing.T) {
	html := page(t, reporttest.Bundle(t, reporttest.Options{}))
	if path := os.Getenv("REDLINE_PAGE"); path != "" { // to look at it
		must(t, os.WriteFile(path, []byte(html), 0o644))
	}
	v := payload(t, html)
	all := charts(v)
	for _, id := range []string{"throughput", "latency", "outstanding", "lag", "cpu", "queueing", "memory",
		"goroutines",
		"heap", "allocation", "cycles", "pauses", "statements", "pool", "backends", "waits", "sessions"} {
		if all[id] == nil {
			t.Errorf("no chart %s", id)
		}
	}
	if lines := all["statements"]["lines"].([]any); len(lines) != 6 {
		t.Errorf("%d lines of statements, want the top five and the others", len(lines))
	}
	if v["heat"] == nil || len(v["spectrum"].([]any)) != 2 || v["anatomy"] == nil {
		t.Error("heat map, spectrum or anatomy is missing")
	}
	if missing := v["missing"]; missing != nil {
		t.Errorf("missing: %v", missing)
	}
	if kinds := v["spans"].([]any); len(kinds) != 3 {
		t.Errorf("spans %v, want warm-up, trace and the end", kinds)
	}
}

// TestPageTellsWhatWaitsWaitFor follows a chain and a CPU sample to the page.
func TestPageTellsWhatWaitsWaitFor(t *testing.T) {
	a := payload(t, page(t, reporttest.Bundle(t, reporttest.Options{})))["anatomy"].(map[string]any)
	part := a["tail"].([]any)[0].(map[string]any)
	links := part["behind"].([]any)[0].(map[string]any)["links"].([]any)
	last := links[len(links)-1].(map[string]any)
	if last["site"] != "pgconn.(*PgConn).Exec < store.flush orders.go:120" || last["stack"] != nil {
		t.Errorf("the chain ends in %v", last)
	}
	if a["cpu"].(map[string]any)["tail"] != 40.0 || len(a["served"].([]any)) != 2 {
		t.Errorf("cpu %v, served %v", a["cpu"], a["served"])
	}
}

// TestPageCounts follows one figure from the record to the page.
func TestPageCounts(t *testing.T) {
	rec := reporttest.Bundle(t, reporttest.Options{})
	whole := timebase.Span{To: 300 * timebase.DefaultWindow}
	requests, _ := rec.Series(series.LoadRequests, "", whole).Sum()
	errors, _ := rec.Series(series.LoadErrors, "kind=timeout", whole).Sum()
	v := payload(t, page(t, rec))
	sum := 0.0
	for _, x := range charts(v)["throughput"]["lines"].([]any)[0].(map[string]any)["values"].([]any) {
		sum += x.(float64) / 10
	}
	if want := requests - errors; sum < want*0.999 || sum > want*1.001 {
		t.Errorf("the page's successes sum to %v, want %v", sum, want)
	}
	cells := v["heat"].(map[string]any)["cells"].([]any)
	heat := 0.0
	for i := 2; i < len(cells); i += 3 {
		heat += cells[i].(float64)
	}
	if heat < 80*300*0.9999 || heat > 80*300*1.0001 {
		t.Errorf("the heat map holds %v requests, want %v", heat, 80*300)
	}
}

func TestPageJoinsWindowsAndKeepsSpikes(t *testing.T) {
	v := payload(t, page(t, reporttest.Bundle(t, reporttest.Options{Windows: 3200, Bare: true})))
	axis := v["axis"].(map[string]any)
	if axis["windows"].(float64) != 2 || axis["points"].(float64) != 1600 {
		t.Fatalf("axis %v, want 1600 points of two windows", axis)
	}
	line := charts(v)["throughput"]["lines"].([]any)[0].(map[string]any)
	low, mean, high := line["low"].([]any), line["values"].([]any), line["high"].([]any)
	for i := range mean {
		l, m, h := low[i].(float64), mean[i].(float64), high[i].(float64)
		if l > m*1.001 || h < m*0.999 {
			t.Fatalf("point %d: low %v, mean %v, high %v", i, l, m, h)
		}
	}
}

func TestPageOfKilledRun(t *testing.T) {
	v := payload(t, page(t, reporttest.Bundle(t, reporttest.Options{Killed: true})))
	h := v["headline"].(map[string]any)
	if !strings.Contains(h["state"].(string), "aborted") {
		t.Errorf("headline %v does not say that the run was aborted", h)
	}
	if len(charts(v)) == 0 {
		t.Error("the windows that were journalled are not drawn")
	}
}

func TestPageOfNothing(t *testing.T) {
	dir := t.TempDir() + "/run"
	w, err := record.Create(dir, record.Run{Window: timebase.DefaultWindow})
	must(t, err)
	must(t, w.Close(record.Aborted, "interrupted"))
	rec, err := record.Open(dir)
	must(t, err)
	v := payload(t, page(t, rec))
	if title := v["headline"].(map[string]any)["title"]; title != "Bottleneck unknown." {
		t.Errorf("title %q", title)
	}
}

func TestPageIsSelfContainedAndSafe(t *testing.T) {
	evil := `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">` + "\u202e"
	html := page(t, reporttest.Bundle(t, reporttest.Options{Evil: evil}))
	if strings.Contains(html, "<script>document.title") || strings.Contains(html, "<img") {
		t.Error("untrusted text reached the markup")
	}
	if n := strings.Count(html, "</script"); n != 7 {
		t.Errorf("%d script ends, want those of data, code and loader, and of what is read later", n)
	}
	for _, pattern := range []string{`src\s*=\s*["']?(https?:)?//`, `<link[^>]*stylesheet`, `@import`, `url\(`,
		`\bfetch\(`, `XMLHttpRequest`, `\bimport\(`, `\beval\(`} {
		if found := regexp.MustCompile(pattern).FindString(html + string(packed(t, html, "code"))); found != "" {
			t.Errorf("the page holds %q", found)
		}
	}
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(html)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none'; connect-src 'none'; script-src 'sha256-") ||
		strings.Contains(policy[1], "unsafe") {
		t.Errorf("policy %q", policy)
	}
}

// TestAnswerStandsFirst: the part that is read before the answer is shown does not grow with the run.
func TestAnswerStandsFirst(t *testing.T) {
	html := page(t, reporttest.Bundle(t, reporttest.Options{Windows: 1800, Extra: 24, Stacks: 300, Parts: 6}))
	var first map[string]any
	text := packed(t, html, "data")
	must(t, json.Unmarshal(text, &first))
	if len(text) > 150_000 {
		t.Errorf("%d bytes stand before the answer", len(text))
	}
	if want := []any{"latencies", "charts", "flames", "others"}; !reflect.DeepEqual(first["later"], want) {
		t.Errorf("later: %v, want %v", first["later"], want)
	}
	for _, key := range []string{"charts", "heat", "flames", "others", "latencies"} {
		if first[key] != nil {
			t.Errorf("%s is read before the answer", key)
		}
	}
	if strings.Index(html, `id="later-`) < strings.Index(html, loader(t, html)) {
		t.Error("what is read later stands before the script")
	}
}

// loader is the script of a page that unpacks the others.
func loader(t testing.TB, page string) string {
	t.Helper()
	found := regexp.MustCompile(`<script>(.*)</script>`).FindString(page)
	if found == "" {
		t.Fatal("the page has no loader")
	}
	return found
}

// TestPageSize bounds the size of a page: of half a minute, and of ten minutes with all profiles.
func TestPageSize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options reporttest.Options
		most    int
	}{
		"30 s":          {reporttest.Options{Windows: 300, Extra: 30, Stacks: 300}, 300_000},
		"10 min":        {reporttest.Options{Windows: 6000, Extra: 24, Stacks: 3000, Parts: 60}, 3_000_000},
		"many a series": {reporttest.Options{Windows: 600, Extra: 170}, 1_500_000},
	} {
		t.Run(name, func(t *testing.T) {
			html := page(t, reporttest.Bundle(t, c.options))
			v := payload(t, html)
			series := len(v["others"].([]any))
			for _, c := range charts(v) {
				series += len(c["lines"].([]any))
			}
			t.Logf("%d bytes, %d series of %d windows", len(html), series, c.options.Windows)
			if dir := os.Getenv("REDLINE_PAGES"); dir != "" { // to time them in a browser
				must(t, os.WriteFile(filepath.Join(dir, name+".html"), []byte(html), 0o644))
			}
			if series < 60 {
				t.Errorf("only %d series inlined", series)
			}
			if len(html) > c.most {
				t.Errorf("the page takes %d bytes, more than %d", len(html), c.most)
				for key, part := range v {
					text, err := pack(part)
					must(t, err)
					t.Logf("%s: %d bytes", key, len(text))
				}
			}
		})
	}
}

// TestEveryStateHasAColour: a state that the page does not know is drawn as "other", which hides what a request lost to it.
func TestEveryStateHasAColour(t *testing.T) {
	style, theme, anatomy := read(t, "page.css"), read(t, "theme.ts"), read(t, "anatomy.tsx")
	for _, state := range interned.States {
		if !strings.Contains(style, ".state-"+string(state)+" {") {
			t.Errorf("no colour for %s", state)
		}
		if state != breakdown.StateOther && !strings.Contains(theme, `"`+string(state)+`"`) {
			t.Errorf("%s is drawn as other", state)
		}
		if !strings.Contains(anatomy, `"`+string(state)+`": "`) && !strings.Contains(anatomy, string(state)+`: "`) {
			t.Errorf("the key does not say what %s means", state)
		}
	}
}

func read(t *testing.T, source string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("page", "src", source))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
