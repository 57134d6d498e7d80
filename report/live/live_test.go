package live

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt" // a terminal that tests can look at

	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func measuring() Event {
	return Event{Phase: "measuring", Done: 18 * time.Second, Total: 30 * time.Second, Rate: 2070.7,
		P50: 28400 * time.Microsecond, P90: 49 * time.Millisecond, P99: 91 * time.Millisecond, Max: 2010 * time.Millisecond,
		Errors: 12, Requests: 62134, InFlight: 64, LagP99: 310 * time.Microsecond, GeneratorCPU: 0.14}
}

// full is a frame in which each part has something to show.
func full(width, height int) frame {
	var s state
	for i := range 180 {
		e := measuring()
		e.Done, e.Rate = time.Duration(i+1)*100*time.Millisecond, 100*float64(i%40)
		e.Errors = int64(i) / 15
		s.add(e)
	}
	for window := range int64(180) {
		s.Add([]series.Point{
			{Window: window, Series: series.Series{Name: series.ProcessUser, Unit: "ns"}, Value: 0.08e9},
			{Window: window, Series: series.Series{Name: series.ProcessSystem, Unit: "ns"}, Value: 0.02e9},
			{Window: window, Series: series.Series{Name: series.HostBusy, Unit: "ns"}, Value: 0.17e9},
			{Window: window, Series: series.Series{Name: series.HostCPUs, Unit: "1"}, Value: 2},
			{Window: window, Series: series.Series{Name: series.DBCPU, Unit: "ns"}, Value: 0.03e9},
			{Window: window, Series: series.Series{Name: "/cpu/classes/gc/total:cpu-seconds", Unit: "ns"}, Value: 0.02e9},
			{Window: window, Series: series.Series{Name: "/gc/cycles/total:gc-cycles", Unit: "1"}, Value: 0.3},
			{Window: window, Series: series.Series{Name: "/sched/goroutines:goroutines", Unit: "1"}, Value: 1024},
			{Window: window, Series: series.Series{Name: series.PoolInUse, Unit: "1"}, Value: 10},
			{Window: window, Series: series.Series{Name: series.PoolInUse, Labels: "pool=a", Unit: "1"}, Value: 99},
			{Window: window, Series: series.Series{Name: series.PoolMax, Unit: "1"}, Value: 10},
			{Window: window, Series: series.Series{Name: series.StatementTime, Labels: "queryid=7", Unit: "ns"}, Value: 0.03e9},
			{Window: window, Series: series.Series{Name: series.StatementCalls, Labels: "queryid=7", Unit: "1"}, Value: 10},
			{Window: window, Series: series.Series{Name: series.StatementTime, Labels: "queryid=8", Unit: "ns"}, Value: 0.01e9},
			{Window: window, Series: series.Series{Name: series.StatementCalls, Labels: "queryid=8", Unit: "1"}, Value: 20},
		})
	}
	s.add(Event{Statement: Statement{QueryID: "8", Text: "INSERT INTO events (order_id, kind) VALUES ($1, $2)"}})
	s.add(Event{Statement: Statement{QueryID: "7", Text: "SELECT * FROM orders WHERE uid = $1 ORDER BY created_at DESC LIMIT $2"}})
	s.add(Event{SoFar: &SoFar{At: 12 * time.Second, Title: "Requests wait for a database connection",
		Place: "store.(*Store).Orders  store/orders.go:112", Worth: "87 % of request time, worth about 7.69x"}})
	var latencies histogram.Counts
	for i := range int64(1000) {
		latencies.Add(i * 1e5)
	}
	s.Latency(&latencies)
	s.add(measuring())
	shown, _ := s.snapshot()
	return frame{snapshot: shown, title: "http://127.0.0.1:8080/", width: width, height: height, keys: true, stop: true}
}

// TestDraw holds the view to what it looks like in large, usual and small terminals.
func TestDraw(t *testing.T) {
	for name, f := range map[string]frame{"wide": full(159, 49), "usual": full(79, 23), "small": full(39, 9), "load": {
		snapshot: snapshot{last: measuring()}, title: "http://127.0.0.1:8080/", width: 79, height: 23}} {
		path := filepath.Join("testdata", name+".txt")
		got := ansi.Strip(draw(f)) + "\n"
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s (go test ./report/live -update rewrites it)\ngot\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestDrawStaysWithinItsRoom: no line is wider and no frame higher than the terminal, and what is
// left out last is the rate, the tail and the errors.
func TestDrawStaysWithinItsRoom(t *testing.T) {
	for width := 20; width < 200; width += 7 {
		for height := 2; height < 60; height++ {
			f := full(width, height)
			f.title = strings.Repeat("long ", 100)
			for _, help := range []bool{false, true} {
				f.help = help
				text := draw(f)
				lines := strings.Split(text, "\n")
				if len(lines) > height {
					t.Errorf("%d lines in a height of %d", len(lines), height)
				}
				for _, line := range lines {
					if n := ansi.StringWidth(line); n > width {
						t.Errorf("width %d: line of %d cells: %q", width, n, ansi.Strip(line))
					}
				}
				if plain := ansi.Strip(text); height >= 9 && !help && (!strings.Contains(plain, "rate ") ||
					!strings.Contains(plain, "p99 ") || !strings.Contains(plain, "errors ")) {
					t.Errorf("%dx%d lacks what matters:\n%s", width, height, plain)
				}
			}
		}
	}
}

// TestSecondsAddUp: what is done and what is left are the whole, also within a second.
func TestSecondsAddUp(t *testing.T) {
	for done, want := range map[time.Duration]string{
		400 * time.Millisecond:   "0 of 30 s, 30 s left",
		17600 * time.Millisecond: "17 of 30 s, 13 s left",
		30 * time.Second:         "30 of 30 s, 0 s left",
	} {
		e := measuring()
		e.Done = done
		if got := ansi.Strip(draw(frame{snapshot: snapshot{last: e}, width: 80})); !strings.Contains(got, want) {
			t.Errorf("after %s: %q, want %s", done, got, want)
		}
	}
}

func TestDrawBeforeTheLoad(t *testing.T) {
	if got := ansi.Strip(draw(frame{snapshot: snapshot{last: Event{Phase: "building"}}, width: 80})); got != "redline  building" {
		t.Errorf("got %q", got)
	}
	over := measuring()
	over.Done, over.Max = 31*time.Second, 0
	got := ansi.Strip(draw(frame{snapshot: snapshot{last: over}, width: 80}))
	if !strings.Contains(got, "30 of 30 s, 0 s left") || !strings.Contains(got, "no answer") {
		t.Errorf("got %q", got)
	}
}

func TestState(t *testing.T) {
	var s state
	s.add(Event{Phase: "warm-up", Message: "ready\x1b[31m"})
	s.add(Event{Done: 200 * time.Millisecond, Rate: 100, Max: 5, P50: 3})
	s.add(Event{Done: 900 * time.Millisecond, Rate: 300})
	s.add(Event{Done: 1100 * time.Millisecond, Rate: 500})
	s.add(Event{Phase: "analysing"})
	shown, messages := s.snapshot()
	if rates := shown.load.values(figureRate); len(rates) != 2 || rates[0] != 200 || rates[1] != 500 {
		t.Errorf("rates %v, want the means of two seconds", rates)
	}
	if last := shown.last; last.Phase != "analysing" || last.P50 != 3 || last.Rate != 500 {
		t.Errorf("last %+v", last)
	}
	if len(messages) != 1 || messages[0] != "ready?[31m" {
		t.Errorf("messages %q", messages)
	}
	if _, again := s.snapshot(); again != nil {
		t.Errorf("messages told twice: %q", again)
	}
}

// TestLateFigures: sources deliver a window late and out of order; each counts in its second, and the
// second that is not over is not shown as a figure.
func TestLateFigures(t *testing.T) {
	var s state
	at := func(window int64, ns float64) series.Point {
		return series.Point{Window: window, Series: series.Series{Name: series.ProcessUser, Unit: "ns"}, Value: ns}
	}
	s.Add([]series.Point{at(0, 0.1e9), at(12, 0.1e9), at(9, 0.4e9), at(21, 0.2e9)})
	shown, _ := s.snapshot()
	whole, ok := shown.service.whole(figureService)
	if !ok || len(whole) != 2 || whole[0] != 0.5 || whole[1] != 0.1 {
		t.Errorf("CPUs %v, want 0.5 and 0.1", whole)
	}
	for second := range int64(2 * historyLength) {
		s.Add([]series.Point{at(second*10, 1)})
	}
	if shown, _ = s.snapshot(); len(shown.service.values(figureService)) != historyLength {
		t.Errorf("%d seconds are kept", len(shown.service.values(figureService)))
	}
}

// TestPlainGoesOn: a build of minutes is no silence, and nothing is written after the end. Its minutes are those of synctest's clock,
// and take no time.
func TestPlainGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		v := Plain(&out)
		v.Event(Event{Phase: "building ./cmd/shop"})
		time.Sleep(65 * time.Second)
		v.Event(Event{Phase: "warm-up"})
		v.Close()
		time.Sleep(time.Hour)
		const want = "building ./cmd/shop\nbuilding ./cmd/shop, for 30s so far\nbuilding ./cmd/shop, for 1m0s so far\nwarm-up\n"
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	})
}

func TestPlain(t *testing.T) {
	var out bytes.Buffer
	v := Plain(&out)
	v.Event(Event{Phase: "building"})
	v.Event(Event{Phase: "building", Message: "built in\n1.2 s"})
	for i := range 25 {
		e := measuring()
		e.Done = time.Duration(i+1) * 100 * time.Millisecond
		v.Event(e)
	}
	v.Event(Event{Phase: "analysing"})
	v.Close()
	want := `building
built in 1.2 s
measuring    0 of 30 s     2,071/s  p50 28.4 ms  p99 91.0 ms  12 errors
measuring    1 of 30 s     2,071/s  p50 28.4 ms  p99 91.0 ms  12 errors
measuring    2 of 30 s     2,071/s  p50 28.4 ms  p99 91.0 ms  12 errors
analysing
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// keyed is a view on an emulated terminal, and somebody who presses keys.
type keyed struct {
	*terminal
	t      *testing.T
	mu     sync.Mutex // of the screen: vt.SafeEmulator guards writing alone
	screen *vt.Emulator
	wrote  chan struct{}
	keys   chan byte
	left   chan struct{}
	stops  chan struct{}
}

func newKeyed(t *testing.T, width, height int) *keyed {
	k := &keyed{t: t, screen: vt.NewEmulator(width, height), wrote: make(chan struct{}, 1),
		keys: make(chan byte), left: make(chan struct{}), stops: make(chan struct{}, 9)}
	k.terminal = start(k, Options{Title: "http://x/", Keys: k.keys, Left: func() { close(k.left) },
		Stop: func() { k.stops <- struct{}{} }}, tea.WithWindowSize(width, height))
	t.Cleanup(k.Close)
	return k
}

func (k *keyed) Write(p []byte) (int, error) {
	k.mu.Lock()
	n, err := k.screen.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))) // as the kernel's terminals do
	k.mu.Unlock()
	n = min(n, len(p))
	select {
	case k.wrote <- struct{}{}:
	default:
	}
	return n, err
}

// shown returns the text on the screen.
func (k *keyed) shown() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.screen.String()
}

func (k *keyed) resize(width, height int) {
	k.mu.Lock()
	k.screen.Resize(width, height)
	k.mu.Unlock()
	k.program.Send(tea.WindowSizeMsg{Width: width, Height: height})
}

// await returns once the screen shows a text, or does not any more.
func (k *keyed) await(text string, shown bool) {
	k.t.Helper()
	patience := time.After(5 * time.Minute)
	for strings.Contains(k.shown(), text) != shown {
		select {
		case <-k.wrote:
		case <-patience:
			k.t.Fatalf("%q shown is not %v:\n%s", text, shown, k.shown())
		}
	}
}

// TestKeys: somebody pauses, reads the help, stops the load, and leaves.
func TestKeys(t *testing.T) {
	k := newKeyed(t, 100, 40)
	k.Event(measuring())
	k.await("28.4 ms", true)
	k.await("? help  p pause  s stop  q leave", true)
	k.keys <- 'p'
	k.await("view paused; the run continues", true)
	later := measuring()
	later.P50 = 77 * time.Millisecond
	k.Event(later)
	k.keys <- '?'
	k.await("pauses the view; the run continues", true)
	k.keys <- '?'
	k.await("pauses the view; the run continues", false)
	k.await("28.4 ms", true) // what it showed when it was paused
	k.keys <- 'p'
	k.await("77.0 ms", true)
	k.keys <- 's'
	<-k.stops
	k.keys <- 'q'
	<-k.left
	k.await("the run continues for 12 s; Ctrl-C stops it", true)
	k.await("77.0 ms", false)
	k.Event(Event{Phase: "closing the record"})
	k.Event(Event{Message: "the target logs a lot"})
	k.await("the target logs a lot", true)
	k.await("closing the record", true)
	if k.Feed().Add([]series.Point{{}}); strings.Contains(k.shown(), "rate") {
		t.Error("the view is drawn after somebody left it")
	}
	k.Close()
	before := k.shown()
	k.after.goesOn() // as its timer does
	k.Event(Event{Phase: "breaking requests down"})
	if k.shown() != before {
		t.Errorf("a closed view goes on:\n%s", k.shown())
	}
}

// TestResize: the view fits the terminal that it is in now.
func TestResize(t *testing.T) {
	k := newKeyed(t, 120, 40)
	k.Event(measuring())
	k.await("so far", false)
	k.await("in flight", true)
	k.resize(40, 8)
	k.await("in flight", false)
	k.await("rate", true)
}

func TestNewWithoutTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, ok := New(file, Options{}).(*plain); !ok {
		t.Error("a file got the view of a terminal")
	}
}

// TestTerminal runs the whole program against a terminal that is a buffer.
func TestTerminal(t *testing.T) {
	out := &buffer{seen: make(chan struct{}, 1), want: "28.4 ms"}
	v := start(out, Options{Color: true, Title: "http://x/"}, tea.WithWindowSize(100, 30))
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			for range 50 {
				v.Event(measuring())
			}
		})
	}
	senders.Wait()
	v.Event(Event{Message: "the target logs a lot"})
	select {
	case <-out.seen:
	case <-time.After(5 * time.Minute):
		t.Fatalf("the view never showed the event: %q", out.String())
	}
	v.Close()
	v.Close()
	v.Event(measuring()) // after the end it is ignored
	got := out.String()
	if !strings.Contains(got, "the target logs a lot") {
		t.Error("the message was not printed")
	}
	if strings.Contains(got, "\x1b[?2026$p") || strings.Contains(got, "\x1b[?1049h") {
		t.Error("the terminal was asked for an answer, or its screen replaced")
	}
	if hidden, shown := strings.LastIndex(got, "\x1b[?25l"), strings.LastIndex(got, "\x1b[?25h"); hidden >= 0 && shown < hidden {
		t.Error("the cursor stayed hidden")
	}
}

// TestMessageAtTheEnd closes the view as soon as it has taken a message over, before
// it has printed it.
func TestMessageAtTheEnd(t *testing.T) {
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			out := &buffer{}
			v := start(out, Options{}, tea.WithWindowSize(80, 24))
			v.Event(Event{Message: "the target logs a lot"})
			for taken := false; !taken; {
				v.state.mu.Lock()
				taken = v.state.messages == nil
				v.state.mu.Unlock()
				runtime.Gosched()
			}
			v.Close()
			if got := out.String(); !strings.Contains(got, "the target logs a lot") {
				t.Errorf("the message was not printed: %q", got)
			}
		})
	}
	all.Wait()
}

func TestCloseAtOnce(t *testing.T) {
	for range 20 {
		start(&buffer{}, Options{}, tea.WithWindowSize(80, 24)).Close()
	}
}

// buffer is a terminal that keeps what it was sent, and reports when it has seen want.
type buffer struct {
	mu   sync.Mutex
	b    bytes.Buffer
	want string
	seen chan struct{}
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.b.Write(p)
	if b.seen != nil && strings.Contains(ansi.Strip(b.b.String()), b.want) {
		select {
		case b.seen <- struct{}{}:
		default:
		}
	}
	return n, err
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// BenchmarkFrame is the cost of one drawing of a large terminal, of which there are four a second.
func BenchmarkFrame(b *testing.B) {
	f := full(159, 49)
	for b.Loop() {
		draw(f)
	}
}

// BenchmarkFeed is the cost of a window's figures to whoever records them.
func BenchmarkFeed(b *testing.B) {
	var s state
	var latencies histogram.Counts
	for i := range int64(1000) {
		latencies.Add(i * 1e5)
	}
	points := make([]series.Point, 60)
	for i := range points {
		points[i].Series = series.Series{Name: series.ProcessUser, Unit: "ns"}
	}
	for window := int64(0); b.Loop(); window++ {
		for i := range points {
			points[i].Window = window
		}
		s.Add(points)
		s.Latency(&latencies)
	}
}
