package load_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/http1"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// memory is a Sink that keeps everything it receives.
type memory struct {
	mu     sync.Mutex
	points []series.Point
	log    map[histogram.Kind]int64 // values logged
	spans  []timebase.Span
	steps  map[string]int64 // latencies logged
	slow   []record.SlowRequest
	err    error
}

func (m *memory) Add(points ...series.Point) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.points = append(m.points, points...)
	return m.err
}

func (m *memory) Counts(step string, kind histogram.Kind, s timebase.Span, c *histogram.Counts) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log == nil {
		m.log, m.steps = map[histogram.Kind]int64{}, map[string]int64{}
	}
	m.log[kind] += c.Total()
	if kind == histogram.Latency {
		m.steps[step] += c.Total()
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
	serveAt(t, l, handle)
	return "http://" + l.Addr().String() + "/"
}

// serveAt is serve with a listener.
func serveAt(t testing.TB, l net.Listener, handle func(c net.Conn, n int)) {
	t.Helper()
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
// after each if asked to.
func always(answer string, closes bool) func(net.Conn, int) {
	bytes := []byte(answer)
	return func(c net.Conn, _ int) {
		for r := bufio.NewReader(c); head(r); {
			if _, err := c.Write(bytes); err != nil || closes {
				return
			}
		}
	}
}

// run drives l against url and fails the test on an error.
func run(t testing.TB, ctx context.Context, url string, l scenario.Load, change ...func(*load.Config)) (*load.Result, *memory, error) {
	t.Helper()
	if l.Grace == 0 {
		l.Grace = time.Minute // a late answer is not a lost one; it ends when all has ended
	}
	if l.Timeout == 0 {
		l.Timeout = 30 * time.Second
	}
	plan := &scenario.Plan{Load: l, Requests: []scenario.Request{{Name: "only", URL: feeder.Template(url)}}}
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{}
	c := load.Config{Plan: plan, Clock: clock, Record: m}
	for _, f := range change {
		f(&c)
	}
	if c.Protocol, err = http1.New(plan); err != nil {
		t.Fatal(err)
	}
	result, err := load.Run(ctx, c)
	return result, m, err
}

func TestClosedLoopCounts(t *testing.T) {
	url := serve(t, always(ok, false))
	var windows []load.Progress
	r, m, err := run(t, t.Context(), url, scenario.Load{Connections: 4, Requests: 500, Warmup: 200 * time.Millisecond},
		func(c *load.Config) { c.OnWindow = func(p load.Progress) { windows = append(windows, p) } })
	if err != nil {
		t.Fatal(err)
	}
	s := r.Load
	if s.Model != "closed" || s.Connections != 4 || s.Requests != 500 || s.Errors != 0 || s.InFlight != 0 {
		t.Errorf("summary %+v", s)
	}
	if s.Status["200"] != s.Requests || s.BytesIn != s.Requests*int64(len(ok)) {
		t.Errorf("%d requests, status %v, %d bytes in", s.Requests, s.Status, s.BytesIn)
	}
	if got := m.sum(series.LoadDials, ""); got != 4 {
		t.Errorf("%v dials, 4 are enough", got)
	}
	all := m.sum(series.LoadRequests, "")
	if all < float64(s.Requests) || m.log[histogram.Latency] != int64(all) {
		t.Errorf("%v requests in windows, %d in the log, %d in the summary, which leaves out the warm-up", all,
			m.log[histogram.Latency], s.Requests)
	}
	if sent := m.sum(series.LoadSent, ""); sent != all {
		t.Errorf("%v sent, %v ended", sent, all)
	}
	if last := windows[len(windows)-1]; last.Requests != s.Requests || !windows[0].Warmup {
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
	if all := m.sum(series.LoadRequests, ""); all != 600 {
		t.Errorf("%v requests in windows, 600 are due with the warm-up", all)
	}
	// A machine that stalls for 0.2 s has 100 requests in progress, each on a connection of its own. Without reuse
	// there are 600.
	if dials := m.sum(series.LoadDials, ""); dials > 300 {
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
	// tens of thousands of attempts of a busy loop.
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

// TestStallIsSeenByWhatWasDue is the test for coordinated omission: while the
// target stands still for 300 ms, requests continue to fall due, and their wait
// must be in the latency although the target served each of them at once.
func TestStallIsSeenByWhatWasDue(t *testing.T) {
	const stall = 300 * time.Millisecond
	var answered atomic.Int64
	url := serve(t, func(c net.Conn, _ int) {
		for r := bufio.NewReader(c); head(r); {
			if answered.Add(1) == 100 {
				time.Sleep(stall)
			}
			if _, err := io.WriteString(c, ok); err != nil {
				return
			}
		}
	})
	// One connection: everything that falls due in the stall waits behind it.
	begin := time.Now()
	r, _, err := run(t, t.Context(), url, scenario.Load{Rate: 400, Connections: 1, Duration: 1500 * time.Millisecond})
	took := time.Since(begin)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Load
	if s.Requests != 600 || s.Errors != 0 || s.InFlight != 0 {
		t.Fatalf("summary %+v", s)
	}
	// 120 of the 600 fall due in the stall and wait for half of it on average.
	if p90 := time.Duration(s.Latency.P90); p90 < stall/4 {
		t.Errorf("latency p90 %v does not show the stall", p90)
	}
	// One is served slowly. A slow host serves more of them slowly, but one after the
	// other: all service times fit into the run, which the waits in line do not.
	if mean := time.Duration(s.Service.Mean); time.Duration(s.Service.Max) < stall || mean*time.Duration(s.Requests) > took {
		t.Errorf("service mean %v of %d requests in %v, and max %v: that is not one after the other",
			mean, s.Requests, took, time.Duration(s.Service.Max))
	}
	if s.Lag.P90 < int64(stall/4) {
		t.Errorf("schedule lag p90 %v does not show the queue", time.Duration(s.Lag.P90))
	}
	for _, why := range r.Generator.WhyInvalid {
		if strings.Contains(why, "in 100") {
			t.Errorf("waiting for the target's only connection is taken for the generator's fault: %s", why)
		}
	}
}

func TestWhatIsNeverAnsweredIsUnfinished(t *testing.T) {
	url := serve(t, func(c net.Conn, _ int) { io.Copy(io.Discard, c) })
	l := scenario.Load{Connections: 3, Duration: 300 * time.Millisecond, Grace: 50 * time.Millisecond}
	r, m, err := run(t, t.Context(), url, l)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Load; s.Requests != 0 || s.InFlight != 3 || s.Rate != 0 {
		t.Errorf("closed loop: %+v", s)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "3 requests were unanswered") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if sent := m.sum(series.LoadSent, ""); sent != 3 {
		t.Errorf("%v sent", sent)
	}
	l.Rate = 100 // 30 due, 3 sent, 27 wait forever for a connection
	if r, _, err = run(t, t.Context(), url, l); err != nil {
		t.Fatal(err)
	}
	if s := r.Load; s.Requests != 0 || s.InFlight != 30 {
		t.Errorf("open loop: %+v", s)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "27 of 30 due requests were never sent") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestTimeoutsStayInTheLatency(t *testing.T) {
	url := serve(t, func(c net.Conn, _ int) { io.Copy(io.Discard, c) })
	r, m, err := run(t, t.Context(), url, scenario.Load{Connections: 2, Duration: 400 * time.Millisecond, Timeout: 60 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Load
	if s.Requests == 0 || s.ErrorKinds["timeout"] != s.Requests || s.Errors != s.Requests || s.Rate != 0 {
		t.Errorf("summary %+v", s)
	}
	if s.Dials < s.Requests || s.Reconnects != 0 {
		t.Errorf("%d connections were opened for %d requests, %d after the target had closed one: it was the generator",
			s.Dials, s.Requests, s.Reconnects)
	}
	if least := int64(60 * time.Millisecond); s.Latency.Min < least || s.ErrorLatency.Min < least || m.log[histogram.Latency] == 0 {
		t.Errorf("latency %+v, of errors %+v, log %v", s.Latency, s.ErrorLatency, m.log)
	}
}

func TestFailuresKeepTheRunGoing(t *testing.T) {
	var n atomic.Int64
	url := serve(t, func(c net.Conn, _ int) {
		for r := bufio.NewReader(c); head(r); {
			answer := ok
			switch n.Add(1) % 5 {
			case 1:
				answer = "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"
			case 2:
				answer = "nonsense\n"
			case 3:
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok")
				return
			}
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
		}
	})
	r, m, err := run(t, t.Context(), url, scenario.Load{Rate: 500, Duration: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Load
	var failed int64
	for _, kind := range []failure.Kind{failure.Status, failure.BadResponse, failure.ShortBody} {
		got := s.ErrorKinds[string(kind)]
		if got < 10 {
			t.Errorf("%d failures of kind %s in %v", got, kind, s.ErrorKinds)
		}
		if inWindows := m.sum(series.LoadErrors, series.Labels("kind", string(kind))); int64(inWindows) != got {
			t.Errorf("%s: %v in windows, %d in the summary", kind, inWindows, got)
		}
		failed += got
	}
	if s.Requests != 250 || s.Errors != failed || m.log[histogram.ErrorLatency] != failed || m.log[histogram.Latency] != 250-failed {
		t.Errorf("summary %+v, log %v", s, m.log)
	}
	if s.Status["500"] != s.ErrorKinds["status"] {
		t.Errorf("status %v, kinds %v", s.Status, s.ErrorKinds)
	}
	byMessage := map[string]int64{}
	for _, f := range s.Failures {
		byMessage[f.Kind] += f.Count
		if f.Text == "" || f.Request != "" || f.First < r.Steady.From || f.Last < f.First {
			t.Errorf("failures by message: %+v", f)
		}
	}
	if !maps.Equal(byMessage, s.ErrorKinds) || len(s.Failures) != 3 {
		t.Errorf("failures by message %+v, by kind %v", s.Failures, s.ErrorKinds)
	}
}

// TestFailuresAreInService: requests that all fail are with the target as well,
// and the generator is not the one that holds them.
func TestFailuresAreInService(t *testing.T) {
	url := serve(t, always("nonsense\n", true))
	r, _, err := run(t, t.Context(), url, scenario.Load{Connections: 2, Duration: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if why := strings.Join(r.Generator.WhyInvalid, "; "); r.Load.Errors == 0 || r.Load.Errors != r.Load.Requests ||
		strings.Contains(why, "Little's law") {
		t.Errorf("%d of %d requests failed, and the run is invalid: %s", r.Load.Errors, r.Load.Requests, why)
	}
}

func TestClosedConnectionsAreOpenedAgain(t *testing.T) {
	url := serve(t, always("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", true))
	r, m, err := run(t, t.Context(), url, scenario.Load{Rate: 200, Duration: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r.Load.Requests != 60 || r.Load.Errors != 0 || m.sum(series.LoadDials, "") != 60 {
		t.Errorf("%+v, %v dials", r.Load, m.sum(series.LoadDials, ""))
	}
}

func TestConnectionsRamp(t *testing.T) {
	url := serve(t, always(ok, false))
	r, m, err := run(t, t.Context(), url, scenario.Load{Connections: 1, Duration: 600 * time.Millisecond,
		Stages: []scenario.Stage{{To: 8, Over: 400 * time.Millisecond}}})
	if err != nil {
		t.Fatal(err)
	}
	var first, last float64
	for _, p := range m.points {
		if p.Series.Name == series.LoadConnections {
			if first == 0 {
				first = p.Value
			}
			last = p.Value
		}
	}
	if r.Load.Connections != 8 || first >= 8 || last != 8 {
		t.Errorf("%d connections, %v in the first window, %v in the last", r.Load.Connections, first, last)
	}
}

func TestSinkFailsAtTheEnd(t *testing.T) {
	url := serve(t, always(ok, false))
	full := errors.New("no space left on device")
	r, _, err := run(t, t.Context(), url, scenario.Load{Connections: 1, Requests: 100},
		func(c *load.Config) { c.Record.(*memory).err = full })
	if !errors.Is(err, full) || r == nil || r.Load.Requests == 0 {
		t.Errorf("result %+v, error %v", r, err)
	}
}

func TestStepsAreLoggedApart(t *testing.T) {
	url := serve(t, always(ok, false))
	r, m, err := run(t, t.Context(), url, scenario.Load{Rate: 1000, Duration: 300 * time.Millisecond}, func(c *load.Config) {
		c.Plan.Requests = append(c.Plan.Requests, scenario.Request{Name: "rare", Weight: 1, URL: feeder.Template(url)})
		c.Plan.Requests[0].Weight = 9
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.steps["only"]+m.steps["rare"] != r.Load.Requests || m.steps["rare"] == 0 || m.steps["rare"] > r.Load.Requests/3 {
		t.Errorf("%v of %d", m.steps, r.Load.Requests)
	}
}

func TestPlannedSpan(t *testing.T) {
	l := scenario.Load{Rate: 100, Duration: 200 * time.Millisecond, Warmup: 100 * time.Millisecond}
	var start time.Duration
	url := serve(t, always(ok, false))
	r, m, err := run(t, t.Context(), url, l, func(c *load.Config) {
		start = c.Clock.Now() + 150*time.Millisecond
		c.Start = start
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := load.Steady(l, start); r.Steady != want || want.From != start+l.Warmup || want.Len() != l.Duration {
		t.Errorf("measured %v, planned %v", r.Steady, want)
	}
	for _, p := range m.points {
		if p.Window < timebase.Window(start, timebase.DefaultWindow) {
			t.Fatalf("point %+v lies before the load", p)
		}
	}
}

// BenchmarkClosedLoop reports requests per CPU-second of the whole process, including
// its minimal server, which takes about half.
func BenchmarkClosedLoop(b *testing.B) {
	url := serve(b, always(ok, false))
	b.ReportAllocs()
	var requests, perCPU float64
	for b.Loop() {
		r, _, err := run(b, context.Background(), url, scenario.Load{Connections: 16, Duration: time.Second,
			Warmup: 100 * time.Millisecond})
		if err != nil {
			b.Fatal(err)
		}
		requests += float64(r.Load.Requests)
		perCPU = r.Generator.RequestsPerCPU
	}
	b.ReportMetric(requests/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(perCPU, "requests/cpu-s")
}
