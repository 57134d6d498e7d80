package goruntime

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/timebase"
)

// scripted is a client whose traces grow by a rate, and fail from some call on.
type scripted struct {
	client
	clock     timebase.Clock
	perSecond int64 // bytes
	fails     int   // the call that fails, from 1; 0 for none
	data      []byte
	asked     []time.Duration
}

func (s *scripted) trace(_ context.Context, length time.Duration, _ int64) (capture, error) {
	s.asked = append(s.asked, length)
	if len(s.asked) == s.fails {
		return capture{}, errors.New("tracing is enabled already")
	}
	data := append([]byte(nil), s.data...)
	data = append(data, bytes.Repeat([]byte{0}, int(float64(s.perSecond)*length.Seconds()))...)
	now := s.clock.Now()
	return capture{data: data, span: timebase.Span{From: now, To: now + length}, err: 1}, nil
}

func TestTracesKeepToTheirSize(t *testing.T) {
	magic := []byte("go 1.25 trace\x00\x00\x00")
	tests := map[string]struct {
		perSecond int64
		fails     int
		data      []byte
		asked     []time.Duration
		stored    int
		says      string
	}{
		"few events":   {1 << 10, 0, magic, []time.Duration{traceSlice, 2 * time.Second}, 1, ""},
		"many events":  {1 << 20, 0, magic, []time.Duration{traceSlice, time.Second}, 1, ""},
		"slice fails":  {1 << 10, 1, magic, []time.Duration{traceSlice, 2 * time.Second}, 1, "enabled already"},
		"trace fails":  {1 << 10, 2, magic, []time.Duration{traceSlice, 2 * time.Second}, 1, "enabled already"},
		"not a trace":  {1 << 10, 0, []byte("<html>"), []time.Duration{traceSlice, 2 * time.Second}, 0, "not an execution trace"},
		"broken trace": {1 << 10, 0, []byte("go 1.25 junk"), []time.Duration{traceSlice, 2 * time.Second}, 1, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			clock, err := timebase.Start()
			if err != nil {
				t.Fatal(err)
			}
			c := &scripted{clock: clock, perSecond: test.perSecond, fails: test.fails, data: test.data}
			s := NewTraces(Options{TraceBytes: 1 << 20})
			// A steady span in the past: all that is due is due at once.
			s.subject = observe.Subject{Clock: clock, Steady: planned(-20*time.Second, 0)}
			s.client = c
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			sink := &observetest.Sink{}
			if err := s.Run(ctx, sink); err != nil {
				t.Fatal(err)
			}
			for i, want := range test.asked {
				if i >= len(c.asked) || (c.asked[i]-want).Abs() > time.Millisecond {
					t.Fatalf("asked for %v, want %v", c.asked, test.asked)
				}
			}
			h := s.Health()
			if got := len(sink.Traces()); got != test.stored || h.OK != (got > 0) || !strings.Contains(h.Why, test.says) {
				t.Errorf("%d traces, %+v", got, h)
			}
		})
	}
}
