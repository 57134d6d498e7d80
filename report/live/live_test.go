package live

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

func measuring() Event {
	return Event{Phase: "measuring", Done: 18 * time.Second, Total: 30 * time.Second, Rate: 2070.7,
		P50: 28400 * time.Microsecond, P90: 49 * time.Millisecond, P99: 91 * time.Millisecond, Max: 2010 * time.Millisecond,
		Errors: 12, Requests: 62134, InFlight: 64, LagP99: 310 * time.Microsecond, GeneratorCPU: 0.14}
}

func TestDraw(t *testing.T) {
	got := ansi.Strip(draw("http://127.0.0.1:8080/", measuring(), []float64{0, 500, 1000, 2000, 2070}, 80))
	want := strings.Join([]string{
		"redline  measuring  http://127.0.0.1:8080/",
		"━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━───────────────────────  18 of 30 s, 12 s left",
		"",
		"rate          2,071/s   ▂▄██",
		"latency       p50 28.4 ms  p90 49.0 ms  p99 91.0 ms  max 2.01 s ",
		"errors             12 of 62,134 requests (0.02 %)",
		"in flight          64",
		"generator   0.14 CPUs, lag p99 310 µs",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDrawStaysWithinItsWidth(t *testing.T) {
	e := measuring()
	e.Unhealthy = strings.Repeat("lag ", 50)
	for width := 30; width < 200; width += 7 {
		for line := range strings.SplitSeq(draw(strings.Repeat("long ", 100), e, make([]float64, 300), width), "\n") {
			if n := ansi.StringWidth(line); n > width {
				t.Errorf("width %d: line of %d cells: %q", width, n, ansi.Strip(line))
			}
		}
	}
}

func TestDrawBeforeTheLoad(t *testing.T) {
	if got := ansi.Strip(draw("", Event{Phase: "building"}, nil, 80)); got != "redline  building" {
		t.Errorf("got %q", got)
	}
	over := measuring()
	over.Done, over.Max = 31*time.Second, 0
	got := ansi.Strip(draw("", over, nil, 80))
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
	last, rates, messages := s.snapshot()
	if len(rates) != 2 || rates[0] != 200 || rates[1] != 500 {
		t.Errorf("rates %v, want the means of two seconds", rates)
	}
	if last.Phase != "analysing" || last.P50 != 3 || last.Rate != 500 {
		t.Errorf("last %+v", last)
	}
	if len(messages) != 1 || messages[0] != "ready?[31m" {
		t.Errorf("messages %q", messages)
	}
	if _, _, again := s.snapshot(); again != nil {
		t.Errorf("messages told twice: %q", again)
	}
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
	case <-time.After(10 * time.Second):
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
