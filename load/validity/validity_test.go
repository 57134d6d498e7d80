package validity

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

func TestValidity(t *testing.T) {
	healthy := func(open bool) *Evidence {
		e := &Evidence{Open: open, Span: 10 * time.Second, Asked: 64, CPUs: 2, Loopback: true,
			Summary: record.LoadSummary{Requests: 20000, Rate: 2000, Latency: histogram.Quantiles{P50: 5e6, P99: 20e6},
				Service: histogram.Quantiles{Mean: 4e6}, ErrorKinds: map[string]int64{}},
			Spent:      Spent{CPU: 2 * time.Second, Delay: 20 * time.Millisecond, Runs: 5000, Known: true, Open: 64, Edges: 100},
			Own:        histogram.Quantiles{P50: 30e3, P99: 200e3},
			ServiceSum: 80 * time.Second, LagSum: time.Second}
		if open {
			e.Summary.IntendedRate = 2000
		}
		return e
	}
	tests := []struct {
		name    string
		open    bool
		change  func(*Evidence)
		invalid string // part of the reason; empty for valid
		warning string // part of a warning; empty for none at all
	}{
		{"healthy, open", true, func(*Evidence) {}, "", ""},
		{"healthy, closed", false, func(*Evidence) {}, "", ""},
		{"nothing measured", true, func(e *Evidence) { e.Summary.Requests, e.Spent = 0, Spent{} }, "", ""},
		{"late though free", true, func(e *Evidence) { e.Own.P99 = 3e6 }, "one request in 100 at least 3.00 ms late", ""},
		{"late below a tenth of the latency", true, func(e *Evidence) { e.Own.P99, e.Summary.Latency.P50 = 3e6, 40e6 }, "", ""},
		{"late below a millisecond", true, func(e *Evidence) { e.Own.P99, e.Summary.Latency.P50 = 900e3, 100e3 }, "", ""},
		{"queueing is the target's", true, func(e *Evidence) { e.Summary.Lag = histogram.Quantiles{P50: 1e9, P99: 2e9} }, "", ""},
		{"late for want of CPU beside the target", true, func(e *Evidence) { e.Own.P99, e.Spent.Delay = 3e6, time.Second }, "", "100 ms per second in the kernel's run queue"},
		{"late for want of CPU, target elsewhere", true, func(e *Evidence) { e.Own.P99, e.Spent.Delay, e.Loopback = 3e6, time.Second, false }, "one request in 100", "waited for one for 100 ms per second, 33 %"},
		{"late for want of CPU, and half of the tail", true, func(e *Evidence) { e.Own.P99, e.Spent.Delay = 12e6, time.Second }, "the latency percentiles from p90 up cannot be trusted", "waited for one for 100 ms per second, 33 %"},
		{"late for want of CPU by a turn of others, and half of a short tail", true, func(e *Evidence) {
			e.Own.P99, e.Spent.Delay, e.Summary.Latency.P50, e.Summary.Latency.P99 = 1.76e6, time.Second, 200e3, 3.39e6
		}, "", "100 ms per second in the kernel's run queue"},
		{"mostly late, whatever the reason", true, func(e *Evidence) { e.Own.P50, e.Own.P99, e.Spent.Delay = 2e6, 3e6, time.Second }, "half of the requests", "for a CPU"},
		{"own lag means nothing to a closed loop", false, func(e *Evidence) { e.Own.P99 = 1e9 }, "", ""},
		{"mostly thinking", false, func(e *Evidence) { e.ServiceSum, e.ThinkSum = time.Second, 100*time.Second }, "", ""},
		{"late after thinking", false, func(e *Evidence) { e.ServiceSum, e.ThinkSum, e.LagSum = time.Second, 100*time.Second, 20*time.Second }, "for 17 % of the time between two requests, the generator kept them idle", ""},
		{"Little's law", false, func(e *Evidence) { e.LagSum = 20 * time.Second }, "keep 8 of 64 connections busy", ""},
		{"Little's law of streams", false, func(e *Evidence) { e.LagSum, e.Summary.Streams = 20*time.Second, 10 }, "of 640 streams busy", ""},
		{"Little's law, just kept", false, func(e *Evidence) { e.LagSum = 8 * time.Second }, "", ""},
		{"all CPUs", false, func(e *Evidence) { e.Spent.CPU, e.Loopback = 19500*time.Millisecond, false }, "1.95 of 2 CPUs", ""},
		{"all CPUs, mostly awake for what is due", true, func(e *Evidence) {
			e.Spent.CPU, e.Spent.Polled, e.Loopback = 19500*time.Millisecond, 15*time.Second, false
		}, "", ""},
		{"an event loop is full", false, func(e *Evidence) { e.LoopBusy = 0.97 }, "on CPU for 97 % of the time, so answers waited for it", ""},
		{"an event loop is full, open", true, func(e *Evidence) { e.LoopBusy = 0.99 }, "the rate and the latency percentiles cannot be trusted", ""},
		{"an event loop has pauses", false, func(e *Evidence) { e.LoopBusy = 0.80 }, "", ""},
		{"an event loop is full while there is load", false, func(e *Evidence) { e.LoopBusy, e.On = 0.40, 4*time.Second }, "on CPU for 100 % of the time", ""},
		{"an event loop has pauses while there is load", false, func(e *Evidence) { e.LoopBusy, e.On = 0.36, 5*time.Second }, "", ""},
		{"a full closed loop beside its target", false, func(e *Evidence) { e.LoopBusy, e.Spent.CPU, e.Spent.Delay = 0.75, 9*time.Second, 5*time.Second }, "", "0.9 of the 2 CPUs"},
		{"waits for CPUs", false, func(e *Evidence) { e.Spent.Delay = 2 * time.Second }, "", "waited for one for 200 ms per second, 50 % of the time in which they were ready to run), so it read responses late: about 400 µs of the latency shown (mean 4.00 ms"},
		{"waits for CPUs, and has little to do", false, func(e *Evidence) { e.Spent.CPU, e.Spent.Delay = 800*time.Millisecond, 390*time.Millisecond }, "", ""},
		{"waits for CPUs, but for moments each time", false, func(e *Evidence) { e.Spent.Delay, e.Spent.Runs = 2*time.Second, 100e3 }, "", ""},
		{"nothing known of waiting for CPUs", false, func(e *Evidence) { e.Spent.Delay, e.Spent.Known = 2*time.Second, false }, "", ""},
		{"never sent for want of time", true, func(e *Evidence) { e.Waiting, e.LoopBusy = 1000, 0.98 }, "the offered rate cannot be trusted", ""},
		{"connections missing for want of descriptors", false, func(e *Evidence) {
			e.Spent.Open, e.Failures[failure.TooManyFDs.Index()] = 12.5, errors.New("socket: too many open files")
		}, "12.5 of 64 connections were open on average: the generator ran out of file descriptors", "12.5 of 64"},
		{"connections refused", false, func(e *Evidence) {
			e.Spent.Open, e.Failures[failure.Refused.Index()] = 12.5, errors.New("connect: connection refused")
		}, "", "12.5 of 64 connections"},
		{"an open loop needs few connections", true, func(e *Evidence) { e.Spent.Open = 3 }, "", ""},
		{"an open loop holds its connections", true, func(e *Evidence) { e.Spent.Open, e.Held = 3, true }, "", "3 of 64 connections"},
		{"shares the target's CPUs", false, func(e *Evidence) { e.Spent.CPU = 8 * time.Second }, "", "0.8 of the 2 CPUs that it shares with the target"},
		{"own CPUs", false, func(e *Evidence) { e.Spent.CPU, e.Loopback = 8*time.Second, false }, "", ""},
		{"descriptors", false, func(e *Evidence) { e.Summary.ErrorKinds["too-many-fds"] = 100 }, "100 of 20,000 requests", ""},
		{"ports", true, func(e *Evidence) { e.Summary.ErrorKinds["no-free-port"] = 100 }, "local ports", ""},
		{"a port in a million", true, func(e *Evidence) { e.Summary.ErrorKinds["no-free-port"] = 1 }, "", ""},
		{"never sent", true, func(e *Evidence) { e.Waiting = 1000 }, "1,000 of 21,000 due requests were unfinished", "1,000 of 21,000 due requests were never sent"},
		{"not kept up", true, func(e *Evidence) { e.Summary.Rate = 1900 }, "", "only 1,900 of the 2,000 requests/s"},
		{"unanswered", false, func(e *Evidence) { e.Begun, e.Oldest = 3, 4*time.Second }, "", "3 requests were unanswered at the end of the grace time, the oldest after 4.00 s"},
		{"one in 100 unanswered", false, func(e *Evidence) { e.Begun = 202 }, "", "202 requests were unanswered"},
		{"more than one in 100 unanswered", false, func(e *Evidence) { e.Begun, e.Grace = 203, 2*time.Second }, "203 of 20,203 due requests were unfinished 2.00 s after the end of the load, so", "203 requests"},
		{"most unanswered", true, func(e *Evidence) { e.Summary.Requests, e.Begun, e.Waiting = 217, 512, 2271 }, "2,783 of 3,000 due requests were unfinished 0 ns after the end of the load (2,271 of them were never sent)", "2,271 of 3,000"},
		{"none ended", false, func(e *Evidence) { e.Summary.Requests, e.Begun, e.Spent = 0, 64, Spent{} }, "64 of 64", "64 requests"},
		{"unanswered when it was interrupted", false, func(e *Evidence) { e.Begun, e.Cut = 500, true }, "", "500 requests"},
		{"connections missing", false, func(e *Evidence) { e.Spent.Open = 12.5 }, "", "12.5 of 64 connections"},
		{"connections ramped", false, func(e *Evidence) { e.Spent.Open, e.Ramped = 12.5, true }, "", ""},
		{"failures quoted", false, func(e *Evidence) {
			e.Failures[failure.Refused.Index()], e.Summary.ErrorKinds["refused"] = errors.New("dial: nobody there"), 2
		}, "", "kind refused: dial: nobody there"},
		{"messages that nobody waited for", true, func(e *Evidence) { e.Pushed = 1500 }, "", "sent 1,500 messages that no request waited for"},
		{"failures of the warm-up", false, func(e *Evidence) { e.Failures[failure.Refused.Index()] = errors.New("dial: nobody there") }, "",
			"kind refused, in the warm-up: dial: nobody there"},
	}
	for _, test := range tests {
		e := healthy(test.open)
		test.change(e)
		g, warnings := Assess(e)
		why, said := strings.Join(g.WhyInvalid, "; "), strings.Join(warnings, "; ")
		if g.Valid != (test.invalid == "") || !strings.Contains(why, test.invalid) {
			t.Errorf("%s: valid %v because of %q, want %q", test.name, g.Valid, why, test.invalid)
		}
		for _, reason := range g.WhyInvalid {
			if !strings.Contains(reason, " cannot be trusted") {
				t.Errorf("%s: %q does not say which figure is wrong", test.name, reason)
			}
		}
		if (said == "") != (test.warning == "") || !strings.Contains(said, test.warning) {
			t.Errorf("%s: warnings %q, want %q", test.name, said, test.warning)
		}
	}
}

func TestLoopback(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:80/x": true, "http://localhost/{{uid}}?a b": true, "http://[::1]:8080": true,
		"http://10.0.0.1/": false, "http://example.test/127.0.0.1": false, "http://local%": false,
	} {
		if got := Loopback(&scenario.Plan{Requests: []scenario.Request{{URL: feeder.Template(url)}}}); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}
