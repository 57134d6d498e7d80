package goruntime

import (
	"reflect"
	"testing"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

func span(from, to time.Duration) timebase.Span { return timebase.Span{From: from, To: to} }

func planned(from, to time.Duration) *timebase.Span { return &timebase.Span{From: from, To: to} }

func TestCPUSpansCoverTheSteadySpan(t *testing.T) {
	const s = time.Second
	tests := map[string]struct {
		steady timebase.Span
		length time.Duration
		want   []timebase.Span
	}{
		"short":    {span(5*s, 12*s), 0, []timebase.Span{span(5*s, 12*s)}},
		"three":    {span(5*s, 35*s), 0, []timebase.Span{span(5*s, 15*s), span(15*s, 25*s), span(25*s, 35*s)}},
		"even":     {span(0, 15*s), 0, []timebase.Span{span(0, 7500*time.Millisecond), span(7500*time.Millisecond, 15*s)}},
		"none":     {span(0, 15*s), -1, nil},
		"no span":  {span(0, 0), 0, nil},
		"backward": {span(5*s, 0), 0, nil},
	}
	for name, test := range tests {
		got := cpuSpans(test.steady, Options{CPULength: test.length}.defaults())
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestTracesLieWithinOneCPUProfile(t *testing.T) {
	for steady := 100 * time.Millisecond; steady < 5*time.Minute; steady += 700 * time.Millisecond {
		whole := span(3*time.Second, 3*time.Second+steady)
		for _, o := range []Options{{}, {Traces: 2}, {TraceLength: time.Second}, {CPULength: 3 * time.Second}, {CPULength: -1}} {
			o = o.defaults()
			var total time.Duration
			last := whole.From
			for _, tr := range traceSpans(whole, o) {
				if tr.From-traceSlice < last-traceSlice || tr.To > whole.To || tr.Len() > o.TraceLength || tr.Len() < leastTrace {
					t.Fatalf("steady %v, %+v: trace %v", steady, o, tr)
				}
				within := o.CPULength < 0
				for _, c := range cpuSpans(whole, o) {
					within = within || c.From <= tr.From && tr.To <= c.To
				}
				if !within {
					t.Fatalf("steady %v, %+v: trace %v straddles CPU profiles", steady, o, tr)
				}
				total, last = total+tr.Len(), tr.To
			}
			if total > steady/traceShare {
				t.Fatalf("steady %v, %+v: traced for %v", steady, o, total)
			}
		}
	}
	for steady, want := range map[time.Duration]int{10 * time.Second: 1, 30 * time.Second: 1, 31 * time.Second: 2,
		10 * time.Minute: 3, 50 * time.Millisecond: 0} {
		if got := len(traceSpans(span(0, steady), Options{}.defaults())); got != want {
			t.Errorf("%d traces in %v, want %d", got, steady, want)
		}
	}
	if got := traceSpans(span(0, time.Minute), Options{Traces: -1}.defaults()); len(got) != 0 {
		t.Errorf("traces although none are wanted: %v", got)
	}
}

func TestFit(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		size, target int64
		want         time.Duration
	}{
		{1 << 20, 16 << 20, 2000 * ms}, // 16 MB take 3.2 s: the whole length
		{4 << 20, 16 << 20, 800 * ms},
		{1 << 30, 16 << 20, leastTrace},
		{0, 16 << 20, 2000 * ms},
	}
	for _, test := range tests {
		if got := fit(2000*ms, 200*ms, test.size, test.target); got != test.want {
			t.Errorf("a slice of %d bytes: %v, want %v", test.size, got, test.want)
		}
	}
}

func TestExtend(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		size        int64
		share, room time.Duration
		want        time.Duration
	}{
		"busy":                 {1 << 20, 30_000 * ms, 15_000 * ms, 2000 * ms},
		"quiet":                {200 << 10, 30_000 * ms, 15_000 * ms, 5120 * ms},
		"half as quiet":        {100 << 10, 30_000 * ms, 15_000 * ms, 10_240 * ms},
		"hardly an event":      {1 << 10, 60_000 * ms, 50_000 * ms, 30_000 * ms},
		"to the end":           {1 << 10, 60_000 * ms, 20_000 * ms, 20_000 * ms},
		"quiet in a short run": {100 << 10, 6_000 * ms, 5_000 * ms, 3000 * ms},
		"quiet near the end":   {100 << 10, 30_000 * ms, 2_500 * ms, 2500 * ms},
		"never shorter":        {100 << 10, 30_000 * ms, 1_000 * ms, 2000 * ms},
	} {
		if got := extend(2000*ms, 200*ms, c.size, c.share, c.room); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
