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

// printed is a target's standard error: lines, and when they come.
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
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	sink := &observetest.Sink{}
	go func() { // of them the service forces one every 50 ms
		defer cancel()
		for ctx.Err() == nil { // nothing signals a window's delivery
			if forced, _ := sink.Sum(series.GCForced, ""); forced >= 1 && c.bracket.Samples() >= 200 && sink.Last(series.GCGoal, "") > 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
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
