package live

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/report/reporttest"
)

// open serves a page on loopback until the test ends.
func open(t testing.TB, o Options) *Page {
	t.Helper()
	o.Address = "127.0.0.1:0"
	p, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(p.Close)
	return p
}

// message is one event as a browser gets it.
type message struct{ id, name, data string }

// watcher is a browser's stream.
type watcher struct {
	body io.Closer
	scan *bufio.Reader
}

func watch(t testing.TB, p *Page, viewer, last string) *watcher {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL()+"events?viewer="+viewer, nil)
	must(t, err)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") ||
		answer.Header.Get("X-Accel-Buffering") != "no" || !strings.Contains(answer.Header.Get("Cache-Control"), "no-transform") {
		t.Errorf("headers %v", answer.Header)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return &watcher{answer.Body, bufio.NewReader(answer.Body)}
}

// next returns the next event other than a heartbeat.
func (w *watcher) next(t testing.TB) message {
	t.Helper()
	var m message
	for {
		line, err := w.scan.ReadString('\n')
		must(t, err)
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "id":
			m.id = value
		case "event":
			m.name = value
		case "data":
			m.data = value
		case "":
			if m.name != "" && m.name != "beat" {
				return m
			}
			m = message{}
		}
	}
}

func (w *watcher) until(t testing.TB, name string) message {
	t.Helper()
	for {
		if m := w.next(t); m.name == name {
			return m
		}
	}
}

// one is a point of load in a window.
func one(w int64) series.Point {
	return series.Point{Window: w, Series: series.Series{Name: series.LoadRequests, Unit: "1"}, Value: 7}
}

func begun(p *Page) {
	p.Begin(Recording{Dir: "runs/x", Run: record.Run{Window: timebase.DefaultWindow}, Steady: timebase.Span{To: time.Hour},
		Mark: func(text string) (record.Mark, error) { return record.Mark{At: time.Second, Text: text}, nil }})
}

// TestNoWindowIsMissed: a browser that was away gets what it missed, and everything again if that is no longer there.
func TestNoWindowIsMissed(t *testing.T) {
	p := open(t, Options{})
	begun(p)
	w := watch(t, p, "a", "")
	if m := w.next(t); m.name != "all" {
		t.Fatalf("it begins with %q", m.name)
	}
	next := int64(0)
	last := ""
	for range 20 {
		p.Add([]series.Point{one(next)})
		p.tick()
		for m := w.next(t); ; m = w.next(t) {
			last = m.id
			if m.name == "windows" {
				var e windowsEvent
				must(t, json.Unmarshal([]byte(strings.ReplaceAll(m.data, `"lines"`, `"x"`)), &e))
				if e.From > next {
					t.Fatalf("window %d is missing before %d", next, e.From)
				}
				next = e.From + e.Count
				break
			}
		}
	}
	w.body.Close()
	for i := range int64(5) {
		p.Add([]series.Point{one(next + i)})
		p.tick()
	}
	w = watch(t, p, "a", last)
	for seen := next; seen < next+5; {
		m := w.next(t)
		if m.name != "windows" {
			t.Fatalf("it goes on with %q", m.name)
		}
		var e windowsEvent
		must(t, json.Unmarshal([]byte(strings.ReplaceAll(m.data, `"lines"`, `"x"`)), &e))
		if e.From > seen {
			t.Fatalf("window %d is missing", seen)
		}
		seen = e.From + e.Count
	}
	w.body.Close()
	for i := range int64(mostEvents + 10) {
		p.Add([]series.Point{one(next + 5 + i)})
		p.tick()
	}
	held := fmt.Sprintf(`"from":0,"n":%d`, next+5+mostEvents+10)
	if m := watch(t, p, "a", last).next(t); m.name != "all" || !strings.Contains(m.data, held) {
		t.Errorf("after a long time: %q %.300s", m.name, m.data)
	}
	if m := watch(t, p, "b", "another-3").next(t); m.name != "all" {
		t.Errorf("with the number of another run: %q", m.name)
	}
}

// TestEmptyWindowsAreNoGap: on a host without a CPU to spare nothing may be measured for a few windows. A page has not
// missed these.
func TestEmptyWindowsAreNoGap(t *testing.T) {
	p := open(t, Options{})
	begun(p)
	w := watch(t, p, "a", "")
	next := int64(0)
	for _, at := range []int64{0, 1, 5} {
		p.Add([]series.Point{one(at)})
		p.tick()
		var e windowsEvent
		must(t, json.Unmarshal([]byte(strings.ReplaceAll(w.until(t, "windows").data, `"lines"`, `"x"`)), &e))
		if e.From > next {
			t.Errorf("windows %d to %d never came", next, e.From-1)
		}
		next = e.From + e.Count
	}
	if next != 6 {
		t.Errorf("%d windows came, want 6", next)
	}
}

// TestNumbersOfAnyRunAreKnown: a run's name is random, and may contain the character that separates it from the number.
func TestNumbersOfAnyRunAreKnown(t *testing.T) {
	for _, run := range []string{"abcd", "a-b", "-", "--", "a-7"} {
		s := newStream(run)
		for range 3 {
			_, err := s.send("windows", 1)
			must(t, err)
		}
		events, _, known, _ := s.since(s.after(run + "-2"))
		if !known || len(events) != 1 {
			t.Errorf("%q: %d events after the second of three, known %v", run, len(events), known)
		}
		for _, id := range []string{"", run, run + "-", run + "-x", run + "--2", "x" + run + "-2"} {
			if n := s.after(id); n != -1 {
				t.Errorf("%q: %q is taken for event %d", run, id, n)
			}
		}
	}
}

// TestOneThatNeverReadsIsDropped: it delays neither the run nor other viewers.
func TestOneThatNeverReadsIsDropped(t *testing.T) {
	noted := make(chan string, 1)
	p := open(t, Options{Note: func(text string) { noted <- text }})
	p.patience = 3 * time.Second // the one that reads gets a CPU within it
	begun(p)
	at, err := url.Parse(p.URL())
	must(t, err)
	c, err := net.Dial("tcp", at.Host)
	must(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "GET /events?viewer=deaf HTTP/1.1\r\nHost: %s\r\n\r\n", at.Host)
	must(t, err)
	reads := watch(t, p, "reads", "")
	reads.until(t, "all")
	for w := int64(0); ; w++ {
		var points []series.Point
		for s := range 400 { // enough statements to fill the kernel's buffers soon
			waits := series.Series{Name: series.DBWaits, Labels: fmt.Sprintf("event=%d", s), Unit: "1"}
			points = append(points, series.Point{Window: w, Series: waits, Value: 1})
		}
		p.Event(Event{Message: strings.Repeat("x", 100_000)})
		p.mu.Lock()
		p.state.messages = nil
		p.mu.Unlock()
		p.Add(points)
		p.tick()
		reads.until(t, "windows")
		select {
		case text := <-noted:
			if !strings.Contains(text, "did not read") {
				t.Errorf("noted %q", text)
			}
			return
		default:
		}
	}
}

func press(t testing.TB, p *Page, what, text string, header http.Header) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL()+what, strings.NewReader(text))
	must(t, err)
	for name, values := range header {
		r.Header[name] = values
	}
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer answer.Body.Close()
	return answer.StatusCode
}

// TestButtons: only clicks on this page count.
func TestButtons(t *testing.T) {
	var stopped atomic.Int32
	p := open(t, Options{Stop: func() { stopped.Add(1) }})
	own := strings.TrimSuffix(p.URL(), "/")
	proven := http.Header{"Origin": {own}, secretHeader: {p.secret}}
	if got := press(t, p, "mark", "early", proven); got != http.StatusConflict {
		t.Errorf("a mark before anything is recorded: %d", got)
	}
	begun(p)
	w := watch(t, p, "a", "") // before the mark, which the page sends within a tick
	for _, c := range []struct {
		what   string
		header http.Header
		want   int
	}{
		{"stop", http.Header{"Origin": {own}}, 403},
		{"stop", http.Header{"Origin": {own}, secretHeader: {"guessed"}}, 403},
		{"stop", http.Header{"Origin": {"http://evil.example"}, secretHeader: {p.secret}}, 403},
		{"mark", http.Header{"Origin": {own}}, 403},
		{"mark", proven, 200},
		{"stop", proven, 200},
	} {
		before := stopped.Load()
		if got := press(t, p, c.what, "deploy", c.header); got != c.want || c.want != 200 && stopped.Load() != before {
			t.Errorf("%s with %v: %d, want %d", c.what, c.header, got, c.want)
		}
	}
	if stopped.Load() != 1 {
		t.Errorf("stopped %d times", stopped.Load())
	}
	p.tick() // unless the page's own has sent it
	p.Finish(nil, nil, "the target does not build")
	var spans []string
	for m := w.next(t); m.name != "end"; m = w.next(t) {
		if m.name == "spans" {
			spans = append(spans, m.data)
		}
	}
	if !strings.Contains(strings.Join(spans, "\n"), `{"kind":"mark","from":1,"to":1,"text":"deploy"}`) {
		t.Errorf("spans %s", spans)
	}
	if got := press(t, p, "stop", "", proven); got != http.StatusConflict {
		t.Errorf("stop after the end: %d", got)
	}
}

// TestEndIsHandedOut: the report goes to everyone who watches, and the server waits for no one else.
func TestEndIsHandedOut(t *testing.T) {
	rec := reporttest.Bundle(t, reporttest.Options{})
	summary := reporttest.Sick()
	summary.State = record.Complete

	nobody := open(t, Options{})
	nobody.lingers = time.Hour
	begun(nobody)
	nobody.Finish(rec, summary, "")
	nobody.Close()

	p := open(t, Options{})
	p.lingers = time.Hour
	begun(p)
	w := watch(t, p, "a", "")
	w.until(t, "all")
	p.Finish(rec, summary, "")
	closed := make(chan bool)
	go func() {
		p.Close()
		close(closed)
	}()
	var end ending
	must(t, json.Unmarshal([]byte(w.until(t, "end").data), &end))
	if end.State != "complete" || !end.Report || end.Dir != rec.Dir {
		t.Errorf("%+v", end)
	}
	select {
	case <-closed:
		t.Fatal("closed before the report was fetched")
	default:
	}
	answer, err := http.Get(p.URL() + "report.json?viewer=a")
	must(t, err)
	defer answer.Body.Close()
	var got struct{ Summary record.Summary }
	must(t, json.NewDecoder(answer.Body).Decode(&got))
	if got.Summary.Load.Requests != summary.Load.Requests {
		t.Errorf("the report has %d requests, want %d", got.Summary.Load.Requests, summary.Load.Requests)
	}
	<-closed
}

// TestNobodyWaitsForAViewerThatWentAway: a page that was closed before it had the end makes no sound, and the end waits no
// longer than for one that asks again and again.
func TestNobodyWaitsForAViewerThatWentAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newViewers()
		v.enter("gone", time.Now())
		v.update("gone", func(w *viewer) { w.connections-- })
		within, enough := context.WithTimeout(t.Context(), lingers)
		defer enough()
		began := time.Now()
		v.await(within, 1, false, time.Now)
		if waited := time.Since(began); waited > polled {
			t.Errorf("waited for %v", waited)
		}
	})
}

// TestRunThatDoesNotStart: the page says so to browsers that come before and after.
func TestRunThatDoesNotStart(t *testing.T) {
	p := open(t, Options{})
	w := watch(t, p, "a", "")
	w.until(t, "all")
	p.Event(Event{Phase: "building ./cmd/svc"})
	if m := w.next(t); m.name != "phase" || m.data != `"building ./cmd/svc"` {
		t.Errorf("%+v", m)
	}
	p.Finish(nil, nil, "./cmd/svc does not build\x1b[31m")
	for _, m := range []message{w.until(t, "end"), watch(t, p, "b", "").next(t)} {
		if !strings.Contains(m.data, `"state":"failed","why":"./cmd/svc does not build`) || strings.Contains(m.data, "\\u001b") {
			t.Errorf("%s: %s", m.name, m.data)
		}
	}
}

// TestAssessesWhatIsRecorded: only if somebody watches, and not while the generator lags.
func TestAssessesWhatIsRecorded(t *testing.T) {
	assessed := 0
	p := newPage(Options{Assess: func(context.Context, string) (*record.Summary, error) {
		assessed++
		return reporttest.Sick(), nil
	}})
	begun(p)
	p.state.figures.Seconds = 4
	p.assess(t.Context())
	if assessed != 0 {
		t.Error("assessed although nobody watches")
	}
	p.viewers.enter("a", p.now())
	p.assess(t.Context())
	if assessed != 1 || p.state.findings == nil || len(p.state.findings.Findings) != 4 || p.state.findings.Seconds != 4 {
		t.Fatalf("assessed %d times: %+v", assessed, p.state.findings)
	}
	for range 10 {
		p.Event(Event{Window: &Window{LagP99: int64(time.Second)}})
	}
	p.tick()
	p.assess(t.Context())
	if assessed != 1 || p.state.findings.Skipped != "Not judged now: the generator lags by 1.00 s" || len(p.state.findings.Findings) != 4 {
		t.Errorf("assessed %d times, %q", assessed, p.state.findings.Skipped)
	}
}

// TestAddressOfNothingLeadsBack: to the run, which is all that this server has.
func TestAddressOfNothingLeadsBack(t *testing.T) {
	answer, err := http.Get(open(t, Options{}).URL() + "nothing")
	must(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	if text := string(body); answer.StatusCode != http.StatusNotFound || !strings.Contains(text, `<a href="/">Back to the start</a>`) {
		t.Errorf("%d: %.3000s", answer.StatusCode, text)
	}
}

// TestStepsTakeTurns: for a verb that makes several runs the page shows each in place of the previous one, of which only the
// messages remain, and delivers the result before the process ends.
func TestStepsTakeTurns(t *testing.T) {
	p := open(t, Options{})
	begun(p)
	w := watch(t, p, "a", "")
	w.until(t, "all")
	p.Event(Event{Phase: "step 1", Message: "the host is busy"})
	p.Add([]series.Point{one(0), one(1)})
	p.tick()
	w.until(t, "windows")
	p.Event(Event{Phase: "step 2"})
	p.Add([]series.Point{one(2)}) // too late to be shown, and none of the next
	p.Begin(Recording{Dir: "runs/y", Run: record.Run{Window: timebase.DefaultWindow}, Steady: timebase.Span{To: time.Hour}})
	type windows struct {
		From, N int64
		SoFar   Figures `json:"so_far"`
	}
	var got struct {
		Dir, Phase string
		Begun      bool
		Windows    windows
		Messages   []string
		Spans      []span
	}
	must(t, json.Unmarshal([]byte(w.until(t, "all").data), &got))
	if got.Dir != "runs/y" || got.Phase != "step 2" || got.Windows.N != 0 || got.Windows.SoFar.Requests != 0 ||
		len(got.Messages) != 1 || len(got.Spans) != 1 || !got.Begun {
		t.Errorf("the next step begins with %+v", got)
	}
	p.Add([]series.Point{one(0)})
	p.tick()
	var first windows
	must(t, json.Unmarshal([]byte(w.until(t, "windows").data), &first))
	if first.From != 0 || first.N != 1 {
		t.Errorf("its first windows: %d from %d on", first.N, first.From)
	}
	result := p.URL() + "result?viewer=a"
	if early, err := http.Get(result); err != nil || early.StatusCode != http.StatusNotFound {
		t.Errorf("the result before there is one: %v, %v", early, err)
	}
	p.lingers = time.Minute
	p.Show([]byte("<h1>the ladder</h1>"))
	if end := w.until(t, "end").data; !strings.Contains(end, `"result":true`) {
		t.Errorf("the end %s", end)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		p.Close()
	}()
	answer, err := http.Get(result)
	must(t, err)
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	answer.Body.Close()
	if string(body) != "<h1>the ladder</h1>" || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the result is %q", body)
	}
	<-closed
}
