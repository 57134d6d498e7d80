package load_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/http1"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
)

// memory is a Sink that keeps what it is given.
type memory struct {
	mu     sync.Mutex
	points []record.Point
	log    map[record.Kind]int64 // values logged
	spans  []record.Span
	steps  map[string]int64 // latencies logged
	slow   []record.SlowRequest
	err    error
}

func (m *memory) Add(points ...record.Point) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.points = append(m.points, points...)
	return m.err
}

func (m *memory) Histogram(step string, kind record.Kind, s record.Span, h *hdrhistogram.Histogram) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log == nil {
		m.log, m.steps = map[record.Kind]int64{}, map[string]int64{}
	}
	m.log[kind] += h.TotalCount()
	if kind == record.Latency {
		m.steps[step] += h.TotalCount()
	}
	m.spans = append(m.spans, s)
	return m.err
}

func (m *memory) Slow(requests ...record.SlowRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow = append(m.slow, requests...)
	return m.err
}

// sum adds up a counter's points.
func (m *memory) sum(name, labels string) (sum float64) {
	for _, p := range m.points {
		if p.Series.Name == name && p.Series.Labels == labels {
			sum += p.Value
		}
	}
	return sum
}

// serve starts a server on loopback that runs handle for each connection and
// returns its URL. It ends with the test.
func serve(t testing.TB, handle func(c net.Conn, n int)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			all.Go(func() {
				defer c.Close()
				handle(c, n)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return "http://" + l.Addr().String() + "/"
}

// head reads one request without a body; false at the connection's end.
func head(r *bufio.Reader) bool {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return false
		}
		if len(line) <= 2 {
			return true
		}
	}
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// always answers every request with the same bytes, and closes the connection
// after each if told so.
func always(answer string, closes bool) func(net.Conn, int) {
	return func(c net.Conn, _ int) {
		for r := bufio.NewReader(c); head(r); {
			if _, err := io.WriteString(c, answer); err != nil || closes {
				return
			}
		}
	}
}

// run drives l against url and fails the test on an error.
func run(t testing.TB, ctx context.Context, url string, l scenario.Load, change ...func(*load.Config)) (*load.Result, *memory, error) {
	t.Helper()
	plan := &scenario.Plan{Load: l, Requests: []scenario.Request{{Name: "only", URL: scenario.Template(url)}}}
	clock, err := record.StartClock()
	if err != nil {
		t.Fatal(err)
	}
	dial, err := http1.NewDialer(plan, clock)
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{}
	c := load.Config{Plan: plan, Clock: clock, Dial: dial, Record: m}
	for _, f := range change {
		f(&c)
	}
	result, err := load.Run(ctx, c)
	return result, m, err
}

func TestClosedLoopCounts(t *testing.T) {
	url := serve(t, always(ok, false))
	var windows []load.Progress
	r, m, err := run(t, t.Context(), url, scenario.Load{Connections: 4, Duration: 600 * time.Millisecond, Warmup: 200 * time.Millisecond},
		func(c *load.Config) { c.OnWindow = func(p load.Progress) { windows = append(windows, p) } })
	if err != nil {
		t.Fatal(err)
	}
	s := r.Load
	if s.Model != "closed" || s.Connections != 4 || s.Requests == 0 || s.Errors != 0 || s.InFlight != 0 {
		t.Errorf("summary %+v", s)
	}
	if s.Status["200"] != s.Requests || s.BytesIn != s.Requests*int64(len(ok)) {
		t.Errorf("%d requests, status %v, %d bytes in", s.Requests, s.Status, s.BytesIn)
	}
	if got := m.sum(record.LoadDials, ""); got != 4 {
		t.Errorf("%v dials, 4 are enough", got)
	}
	all := m.sum(record.LoadRequests, "")
	if all <= float64(s.Requests) || m.log[record.Latency] != int64(all) {
		t.Errorf("%v requests in windows, %d in the log, %d in the summary, which leaves out the warm-up", all, m.log[record.Latency], s.Requests)
	}
	if sent := m.sum(record.LoadSent, ""); sent != all {
		t.Errorf("%v sent, %v ended", sent, all)
	}
	if last := windows[len(windows)-1]; last.Requests != s.Requests || len(windows) < 8 || !windows[0].Warmup || last.Warmup {
		t.Errorf("%d windows, the last: %+v", len(windows), last)
	}
	if len(m.slow) < 64 {
		t.Errorf("%d slow requests", len(m.slow))
	}
	if s.Service.P50 <= 0 || s.Latency.P50 < s.Service.P50/2 || s.FirstByte.Max > s.Service.Max {
		t.Errorf("times %+v %+v %+v", s.Latency, s.Service, s.FirstByte)
	}
}

func TestOpenLoopSendsWhatIsDue(t *testing.T) {
	url := serve(t, always(ok, false))
	r, m, err := run(t, t.Context(), url, scenario.Load{Rate: 500, Duration: time.Second, Warmup: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Load
	if s.Requests+s.InFlight != 500 || s.InFlight != 0 || s.Errors != 0 || s.IntendedRate != 500 {
		t.Errorf("summary %+v", s)
	}
	if all := m.sum(record.LoadRequests, ""); all != 600 {
		t.Errorf("%v requests in windows, 600 are due with the warm-up", all)
	}
	if dials := m.sum(record.LoadDials, ""); dials > 100 {
		t.Errorf("%v dials: free connections are not used again", dials)
	}
}

func TestRefusedIsCountedAndNotSpun(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	r, _, err := run(t, t.Context(), "http://"+l.Addr().String(), scenario.Load{Connections: 2, Duration: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Load
	// Two connections, 1+2+4...+100 ms between attempts: far fewer than the
	// tens of thousands that a spin would make.
	if s.Requests == 0 || s.Requests > 60 || s.ErrorKinds["refused"] != s.Requests || s.Rate != 0 {
		t.Errorf("summary %+v", s)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "refused") {
		t.Errorf("warnings %q do not quote the failure", r.Warnings)
	}
}

func TestCancelKeepsWhatWasMeasured(t *testing.T) {
	url := serve(t, always(ok, false))
	for _, l := range []scenario.Load{{Connections: 3}, {Rate: 300}} {
		ctx, cancel := context.WithCancel(t.Context())
		l.Duration = time.Minute
		windows := 0
		begin := time.Now()
		r, _, err := run(t, ctx, url, l, func(c *load.Config) {
			c.OnWindow = func(load.Progress) {
				if windows++; windows == 4 {
					cancel()
				}
			}
		})
		if !errors.Is(err, context.Canceled) || r == nil || r.Load.Requests == 0 {
			t.Fatalf("result %+v, error %v", r, err)
		}
		if took := time.Since(begin); r.Steady.Len() <= 0 || r.Steady.Len() > took {
			t.Errorf("steady span %v after %v", r.Steady.Len(), took)
		}
		cancel()
	}
}
