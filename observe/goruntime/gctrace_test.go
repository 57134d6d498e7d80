package goruntime

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// The lines have the form of their Go version's documentation.
func TestParseCycle(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	plain := cycle{
		number: 12, start: 1234 * ms, pauses: [2]time.Duration{110 * us, 20 * us}, mark: 3200 * us,
		assist: 1500 * us, cpu: 220*us + 1500*us + 2500*us + 100*us + 40*us,
		peak: 9 << 20, live: 5 << 20, goal: 10 << 20, procs: 2,
	}
	forced := plain
	forced.forced = true
	for name, test := range map[string]struct {
		line string
		want cycle
	}{
		"Go 1.16":        {"gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 2 P", plain},
		"Go 1.17 forced": {"gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 2 P (forced)", forced},
		"Go 1.19":        {"gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 0 MB stacks, 1 MB globals, 2 P", plain},
		"Go 1.26 forced": {"gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 0 MB stacks, 1 MB globals, 2 P (forced)", forced},
		"a later field":  {"gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 3 of something, 2 P", plain},
	} {
		got, err := parseCycle(test.line)
		got.cpu = got.cpu.Round(us) // sums of decimal fractions
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, test.want)
		}
	}
	whole := "gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 2 P"
	for cut := range len(whole) {
		if got, err := parseCycle(whole[:cut]); err == nil {
			t.Errorf("%q is taken: %+v", whole[:cut], got)
		}
	}
	for _, line := range []string{
		"", "gc", "gc 5 cars", "scvg: 0 MB released", whole + strings.Repeat(", x", 200),
		strings.Replace(whole, "12", "-12", 1), strings.Replace(whole, "1.234", "NaN", 1), strings.Replace(whole, "1.234", "1e300", 1),
		strings.Replace(whole, "8->9", "8->+Inf", 1), strings.Replace(whole, "0.11+", "0.11", 1), strings.Replace(whole, "/", "|", 1),
	} {
		if got, err := parseCycle(line); err == nil {
			t.Errorf("%q is taken: %+v", line, got)
		}
	}
}

func FuzzParseCycle(f *testing.F) {
	f.Add("gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 2 P")
	f.Add("gc 1 @0.000s 0%: 0+0+0 ms clock, 0+0/0/0+0 ms cpu, 0->0->0 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 1 P (forced)")
	f.Fuzz(func(t *testing.T, line string) {
		c, err := parseCycle(line)
		if err != nil {
			return
		}
		for _, d := range []time.Duration{c.start, c.pauses[0], c.pauses[1], c.mark, c.assist, c.cpu, c.end()} {
			if d < 0 {
				t.Fatalf("%q: %+v", line, c)
			}
		}
		for _, v := range []float64{c.peak, c.live, c.goal, c.procs} {
			if !(v >= 0 && v < 1e20) {
				t.Fatalf("%q: %+v", line, c)
			}
		}
	})
}

// printed is a target's standard error with what comes when.
type printed struct {
	lines []string
	came  []time.Time
}

func (p *printed) print(at time.Time, line string) {
	p.lines, p.came = append(p.lines, line), append(p.came, at)
}

func (p *printed) read() (time.Time, string, bool) {
	if len(p.lines) == 0 {
		return time.Time{}, "", false
	}
	came, line := p.came[0], p.lines[0]
	p.came, p.lines = p.came[1:], p.lines[1:]
	return came, line, true
}

func TestCollectionsAreDatedByTheTargetsClock(t *testing.T) {
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	p := &printed{}
	c := NewCollections()
	if err := c.Open(t.Context(), observe.Subject{Clock: clock, Window: 100 * time.Millisecond, GCTrace: p.read}); err != nil {
		t.Fatal(err)
	}
	// The program began 50 ms before the run. Each cycle takes 10 ms.
	const fields = "%: 1+8+1 ms clock, 1+2/3/4+1 ms cpu, 4->5->2 MB, 6 MB goal, 2 P"
	const ms = time.Millisecond
	for _, l := range []struct {
		came time.Duration
		text string
	}{
		{160 * ms, "gc 1 @0.200s 1" + fields},               // ends at 160
		{700 * ms, "gc 2 @0.300s 1" + fields},               // ends at 260, and comes late
		{700 * ms, "gc 3 @0.320s 1" + fields},               // ends at 280
		{700 * ms, "gc is a word"},                          // none
		{765 * ms, "gc 4 @0.800s 1" + fields + " (forced)"}, // ends at 760
	} {
		p.print(clock.Time(l.came), l.text)
	}
	c.drain(0)
	c.deliver(9)
	sink := &observetest.Sink{}
	if err := c.meter.Flush(sink); err != nil {
		t.Fatal(err)
	}
	cycles := map[int64]float64{}
	for _, point := range sink.Points() {
		if point.Series.Name == series.GCCycles {
			cycles[point.Window] = point.Value
		}
	}
	for w, want := range map[int64]float64{1: 1, 2: 2, 3: 0, 7: 1, 8: 0} {
		if got, ok := cycles[w]; !ok || got != want {
			t.Errorf("%v cycles (%t) in window %d, want %v", got, ok, w, want)
		}
	}
	for name, want := range map[string]float64{
		series.GCForced: 1, series.GCPause: 8e6, series.GCMark: 32e6, series.GCAssist: 8e6, series.GCCPU: 44e6,
	} {
		if sum, _ := sink.Sum(name, ""); sum != want {
			t.Errorf("%s is %v in all, want %v", name, sum, want)
		}
	}
	if live, n := sink.Sum(series.GCLive, ""); live != 3*2<<20 || n != 3 {
		t.Errorf("live heap of %v in %d windows, want one figure in each window with a cycle", live, n)
	}
	if h := c.Health(); !h.OK || h.Samples != 4 || h.Align.P99 > ms || !strings.Contains(h.Why, "1 lines") {
		t.Errorf("%+v", h)
	}
}

func TestCollectionsOfAProgramThatRestarts(t *testing.T) {
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	p := &printed{}
	c := NewCollections()
	if err := c.Open(t.Context(), observe.Subject{Clock: clock, Window: 100 * time.Millisecond, GCTrace: p.read}); err != nil {
		t.Fatal(err)
	}
	const fields = "s 1%: 1+8+1 ms clock, 1+2/3/4+1 ms cpu, 4->5->2 MB, 6 MB goal, 2 P"
	p.print(clock.Time(time.Second), "gc 9 @0.990"+fields)
	p.print(clock.Time(2*time.Second), "gc 1 @0.090"+fields)
	c.drain(0)
	if h := c.Health(); h.Samples != 2 || !strings.Contains(h.Why, "restarted") || h.Align.P99 > time.Millisecond {
		t.Errorf("%+v", h)
	}
}

func TestCollectionsRefuse(t *testing.T) {
	for name, subject := range map[string]observe.Subject{
		"with a probe":   {Ring: "/ring", GCTrace: (&printed{}).read},
		"without a line": {},
	} {
		if err := NewCollections().Open(t.Context(), subject); err == nil {
			t.Errorf("%s: opens", name)
		}
	}
}

// TestCollectionsOfARealTarget runs the service without its probe.
func TestCollectionsOfARealTarget(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a target is built and run")
	}
	binary, err := buildService()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1")
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer input.Close()
	lines := make(chan gcText, 1024)
	go scan(output, lines)
	read := func() (time.Time, string, bool) {
		select {
		case l := <-lines:
			return l.came, l.text, true
		default:
			return time.Time{}, "", false
		}
	}
	observetest.Run(t, func() observe.Source { return NewCollections() }, observe.Subject{GCTrace: read})

	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	c := NewCollections()
	if err := c.Open(t.Context(), observe.Subject{Clock: clock, Window: 20 * time.Millisecond, GCTrace: read}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	sink := &observetest.Sink{}
	go func() { // of them the service forces one every 50 ms
		for c.bracket.Samples() < 200 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // windows are delivered some later
		cancel()
	}()
	if err := c.Run(ctx, sink); err != nil {
		t.Fatal(err)
	}
	if h := c.Health(); !h.OK || h.Why != "" {
		t.Errorf("%+v", h)
	}
	if forced, _ := sink.Sum(series.GCForced, ""); forced < 1 {
		t.Errorf("%v forced collections", forced)
	}
	if live := sink.Last(series.GCGoal, ""); !(live > 0) {
		t.Errorf("a goal of %v", live)
	}
}

type gcText struct {
	came time.Time
	text string
}

// scan sends each line of r with when it came.
func scan(r io.Reader, lines chan<- gcText) {
	for s := bufio.NewScanner(r); s.Scan(); {
		select {
		case lines <- gcText{time.Now(), s.Text()}:
		default: // nobody reads between two runs
		}
	}
}
