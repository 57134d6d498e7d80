package live

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web"
	"github.com/redline-go/redline/web/webtest"
)

// seen is what page/test/live.mjs returns, and of six tabs page/test/tabs.mjs.
type seen struct {
	Console, Errors, Foreign, Findings, Charts, Readings, Unnamed, Marks, Figures []string
	Clock                                                                         string
	SoFar, Away, Missed, Report, Title                                            string
	Drawn, Injected                                                               int
	Tabs                                                                          []string
	Streams, Asking                                                               int // tabs that opened a stream; that only asked
	Overflow                                                                      map[string]float64
}

// between is a proxy between the browser and the page. It can lose connections, and it can buffer
// streams as some proxies do.
type between struct {
	*httptest.Server
	refuse atomic.Int32 // so many connections
}

func proxy(t *testing.T, p *Page, holdsBack bool) *between {
	t.Helper()
	to, err := url.Parse(p.URL())
	must(t, err)
	b := &between{}
	pass := &httputil.ReverseProxy{FlushInterval: -1, ErrorHandler: func(http.ResponseWriter, *http.Request, error) {},
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ModifyResponse: func(r *http.Response) error {
			if holdsBack && strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") && !r.Request.URL.Query().Has("once") {
				r.Body = &held{r.Body}
			}
			return nil
		}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/events") && b.refuse.Add(-1) >= 0 {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				c.Close()
			}
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

// held is a body that is passed on only at its end.
type held struct{ io.ReadCloser }

func (h *held) Read(p []byte) (int, error) {
	if _, err := io.Copy(io.Discard, h.ReadCloser); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// check checks what holds for every walk.
func (s *seen) check(t *testing.T) {
	t.Helper()
	if len(s.Console)+len(s.Errors)+len(s.Foreign)+len(s.Unnamed)+s.Injected > 0 {
		t.Errorf("console %q, errors %q, asked %q, without a name %q, %d foreign elements",
			s.Console, s.Errors, s.Foreign, s.Unnamed, s.Injected)
	}
	for where, pixels := range s.Overflow {
		if pixels > 0 {
			t.Errorf("%s is %v px wider than the screen", where, pixels)
		}
	}
	if s.Missed != "0" || s.Title == "owned" {
		t.Errorf("%s windows missed, title %q", s.Missed, s.Title)
	}
}

// walk lets a browser watch a run that continues until its button is pressed.
func walk(t *testing.T, o reporttest.Options, how string, holdsBack bool) (seen, *record.Summary, string) {
	t.Helper()
	webtest.Modules(t, "../page") // before anything runs
	webtest.Chromium(t)
	o.Windows = 3000
	rec := reporttest.Bundle(t, o)
	rec.Run.Steady.From = time.Second
	summary := &record.Summary{}
	must(t, rec.ReadJSON(record.SummaryFile, summary))
	summary.State = record.Aborted

	stopped, stop := context.WithCancel(t.Context())
	p := open(t, Options{Title: rec.Run.Target.URL, Stop: stop,
		Assess: func(context.Context, string) (*record.Summary, error) { return summary, nil }})
	b := proxy(t, p, holdsBack)
	f, over := feedOf(t, rec), make(chan struct{})
	f.begin(p, func(text string) (record.Mark, error) {
		if text == "cut" {
			b.refuse.Store(2)
			time.AfterFunc(50*time.Millisecond, b.CloseClientConnections) // the answer goes out first
		}
		return record.Mark{At: 5 * time.Second, Text: text + o.Evil}, nil
	})
	go func() {
		defer close(over)
		for w := int64(0); stopped.Err() == nil; w++ {
			f.repeat(p, w, 300, 1500) // before the slump at 1800
			if w > 60 && w%20 == 0 {
				p.assess(stopped)
			}
			if w < 60 { // windows from before the browser came
				continue
			}
			select {
			case <-stopped.Done():
			case <-time.After(100 * time.Millisecond): // the pace of a run
			}
		}
		p.Finish(rec, summary, "")
		p.lingers = time.Minute
		p.Close()
	}()
	shots := "" // where to leave screenshots of the whole walk
	if how == "whole" {
		shots = os.Getenv("REDLINE_SHOTS")
	}
	var s seen
	if how == "tabs" {
		webtest.Walk(t, "../page", "tabs.mjs", &s, b.URL+"/")
	} else {
		webtest.Walk(t, "../page", "live.mjs", &s, b.URL+"/", how, shots)
	}
	<-over
	s.check(t)
	var text bytes.Buffer
	must(t, report.Text(&text, summary, report.TextOptions{All: true, Width: 100}))
	return s, summary, text.String()
}

func TestLiveInBrowser(t *testing.T) {
	t.Parallel()
	s, summary, text := walk(t, reporttest.Options{}, "whole", false)
	if len(s.Charts) != 16 || s.Drawn != 16 || !slices.Contains(s.Charts, "chart-statements") {
		t.Errorf("%d charts, %d drawn: %q", len(s.Charts), s.Drawn, s.Charts)
	}
	if !strings.HasPrefix(s.Clock, "Below the run's seconds: the time of day (UTC") {
		t.Errorf("the time axes' note: %q", s.Clock)
	}
	if len(s.Readings) != 2 || !strings.HasSuffix(s.Readings[0], "/s") {
		t.Errorf("readings %q", s.Readings)
	}
	if len(s.Findings) != 3 || s.Findings[0] != "Requests wait for a database connection" ||
		!strings.HasPrefix(s.SoFar, "Based on the first ") {
		t.Errorf("findings so far %q, %q", s.Findings, s.SoFar)
	}
	if !strings.Contains(s.Away, "redline does not answer") || !slices.Equal(s.Marks, []string{"5.0 s cut"}) {
		t.Errorf("away: %q, marks %q", s.Away, s.Marks)
	}
	l := summary.Load
	want := []string{notation.Rate(l.Rate), notation.Duration(l.Latency.P50), notation.Duration(l.Latency.P95),
		notation.Duration(l.Latency.P99), notation.Duration(l.Latency.Max), notation.Percent(float64(l.Errors) / float64(l.Requests))}
	if s.Report != "Requests wait for a database connection" || !slices.Equal(s.Figures, want) {
		t.Errorf("report %q with figures %q, want %q", s.Report, s.Figures, want)
	}
	for _, figure := range want {
		if !strings.Contains(text, figure) {
			t.Errorf("the command line does not say %q, as the page does", figure)
		}
	}
}

func TestHostileLiveInBrowser(t *testing.T) {
	t.Parallel()
	evil := `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">` + "\u202e"
	walk(t, reporttest.Options{Evil: evil}, "short", false)
}

// TestLiveCanBeReadByAll: the live page works without a mouse and with impaired sight.
func TestLiveCanBeReadByAll(t *testing.T) {
	t.Parallel()
	webtest.Modules(t, "../page")
	webtest.Chromium(t)
	rec := reporttest.Bundle(t, reporttest.Options{})
	summary := &record.Summary{}
	must(t, rec.ReadJSON(record.SummaryFile, summary))
	p := open(t, Options{Title: "gateway", Stop: func() {}})
	f := feedOf(t, rec)
	f.begin(p, func(text string) (record.Mark, error) { return record.Mark{Text: text}, nil })
	for w := int64(0); w < 120; w++ {
		f.window(p, w, promptly)
	}
	p.Event(Event{Message: "the target logs to standard error"})
	p.assessed(summary, 5, "Not judged now: the generator waits for a CPU")
	p.mark("deploy")
	webtest.Readable(t, "../page", p.URL(), "#series .marks li")
}

// TestStepsInBrowser: the page shows each run of a verb in turn and continues to its result.
func TestStepsInBrowser(t *testing.T) {
	t.Parallel()
	webtest.Modules(t, "../page")
	webtest.Chromium(t)
	rec := reporttest.Bundle(t, reporttest.Options{})
	p := open(t, Options{Title: "a ladder", Stop: func() {}})
	p.lingers = time.Minute
	marked := make(chan struct{}, 2)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, step := range []string{"1", "2"} {
			p.Event(Event{Phase: "step " + step})
			f := feedOf(t, rec)
			rec.Dir = "runs/step-" + step
			f.begin(p, func(text string) (record.Mark, error) {
				marked <- struct{}{}
				return record.Mark{At: time.Second, Text: text}, nil
			})
			for w := int64(0); w < 40; w++ {
				f.window(p, w, promptly)
			}
			p.Event(Event{Phase: "step " + step})
			<-marked
		}
		var result bytes.Buffer
		if err := web.Text(&result, "redline knee", "2,000/s <b>\nof 3,000/s"); err != nil {
			t.Error(err)
		}
		p.Show(result.Bytes())
		p.Close()
	}()
	var s struct {
		Console, Errors, Phases []string
		Title, Heading, Text    string
		Overflow                map[string]float64
	}
	webtest.Walk(t, "../page", "steps.mjs", &s, p.URL(), webtest.Shots(t))
	<-ended
	if len(s.Console)+len(s.Errors) > 0 || len(s.Phases) != 2 || s.Overflow["phone"]+s.Overflow["desk"] > 0 {
		t.Errorf("console %q, errors %q, phases %q, overflow %v", s.Console, s.Errors, s.Phases, s.Overflow)
	}
	if s.Title != "redline knee" || s.Heading != s.Title || s.Text != "2,000/s <b>\nof 3,000/s" {
		t.Errorf("the result %q, %q: %q", s.Title, s.Heading, s.Text)
	}
}

// TestProxyThatHoldsBack: the page notices and asks again and again.
func TestProxyThatHoldsBack(t *testing.T) {
	t.Parallel()
	walk(t, reporttest.Options{}, "short", true)
}

// TestSixTabsInBrowser: a browser opens six connections to one host, and a stream takes one, so that the tabs beyond the
// fourth poll. A tab that goes away takes nothing from the others.
func TestSixTabsInBrowser(t *testing.T) {
	t.Parallel()
	s, _, _ := walk(t, reporttest.Options{}, "tabs", false)
	want := slices.Repeat([]string{"Requests wait for a database connection"}, 5)
	if s.Streams != 4 || s.Asking != 2 || !slices.Equal(s.Tabs, want) {
		t.Errorf("%d tabs stream and %d ask, of five the reports are %q", s.Streams, s.Asking, s.Tabs)
	}
}

// TestPageKeepsTenMinutes: the browser's memory is bounded as the server's is, joined points are means, and a window
// that never came is counted.
func TestPageKeepsTenMinutes(t *testing.T) {
	t.Parallel()
	type axis struct {
		From, Step      float64
		Points, Windows int
	}
	var got struct {
		First, Length, Missed, Points, Columns, Gap int
		Minute, All                                 axis
		Last, First_of_all                          float64
	}
	must(t, json.Unmarshal([]byte(webtest.Node(t, "../page", "test/lines.mjs", "20000")), &got))
	if got.Length > most+most/10 || got.First+got.Length != 20000 || got.Missed != 0 || got.Gap != 3 {
		t.Errorf("%+v", got)
	}
	if got.Minute.Points != 600 || got.Minute.Windows != 1 || got.Last != 19999 {
		t.Errorf("the last minute: %+v, ends with %v", got.Minute, got.Last)
	}
	if want := float64(14000) + 1.5; got.All.Windows != 4 || got.Points != 1500 || got.First_of_all != want || got.Columns != 1200 {
		t.Errorf("ten minutes: %+v, %d points from %v, want %v; %d columns", got.All, got.Points, got.First_of_all, want, got.Columns)
	}
}
