package load

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

func TestValidity(t *testing.T) {
	healthy := func(open bool) *evidence {
		e := &evidence{open: open, span: 10 * time.Second, asked: 64, cpus: 2, loopback: true,
			summary: record.LoadSummary{Requests: 20000, Rate: 2000, Latency: record.Quantiles{P50: 5e6, P99: 20e6},
				Service: record.Quantiles{Mean: 4e6}, ErrorKinds: map[string]int64{}},
			spent:      spent{cpu: 2 * time.Second, delay: 20 * time.Millisecond, known: true, open: 64, edges: 100},
			own:        record.Quantiles{P50: 30e3, P99: 200e3},
			serviceSum: 80 * time.Second, lagSum: time.Second}
		if open {
			e.summary.IntendedRate = 2000
		}
		return e
	}
	tests := []struct {
		name    string
		open    bool
		change  func(*evidence)
		invalid string // part of the reason; empty for valid
		warning string // part of a warning; empty for none at all
	}{
		{"healthy, open", true, func(*evidence) {}, "", ""},
		{"healthy, closed", false, func(*evidence) {}, "", ""},
		{"nothing measured", true, func(e *evidence) { e.summary.Requests, e.spent = 0, spent{} }, "", ""},
		{"late though free", true, func(e *evidence) { e.own.P99 = 3e6 }, "one request in 100 at least 3.00 ms late", ""},
		{"late below a tenth of the latency", true, func(e *evidence) { e.own.P99, e.summary.Latency.P50 = 3e6, 40e6 }, "", ""},
		{"late below a millisecond", true, func(e *evidence) { e.own.P99, e.summary.Latency.P50 = 900e3, 100e3 }, "", ""},
		{"queueing is the target's", true, func(e *evidence) { e.summary.Lag = record.Quantiles{P50: 1e9, P99: 2e9} }, "", ""},
		{"late for want of CPU beside the target", true, func(e *evidence) { e.own.P99, e.spent.delay = 3e6, time.Second }, "", "100 ms/s in the kernel's run queue"},
		{"late for want of CPU, target elsewhere", true, func(e *evidence) { e.own.P99, e.spent.delay, e.loopback = 3e6, time.Second, false }, "one request in 100", "run queue for 100 ms per second, 33 %"},
		{"late for want of CPU, and half of the tail", true, func(e *evidence) { e.own.P99, e.spent.delay = 12e6, time.Second }, "the latency percentiles from p90 up cannot be trusted", "run queue for 100 ms per second, 33 %"},
		{"late for want of CPU by a turn of others, and half of a short tail", true, func(e *evidence) {
			e.own.P99, e.spent.delay, e.summary.Latency.P50, e.summary.Latency.P99 = 1.76e6, time.Second, 200e3, 3.39e6
		}, "", "100 ms/s in the kernel's run queue"},
		{"mostly late, whatever the reason", true, func(e *evidence) { e.own.P50, e.own.P99, e.spent.delay = 2e6, 3e6, time.Second }, "half of the requests", "run queue"},
		{"own lag means nothing to a closed loop", false, func(e *evidence) { e.own.P99 = 1e9 }, "", ""},
		{"mostly thinking", false, func(e *evidence) { e.serviceSum, e.thinkSum = time.Second, 100*time.Second }, "", ""},
		{"late after thinking", false, func(e *evidence) { e.serviceSum, e.thinkSum, e.lagSum = time.Second, 100*time.Second, 20*time.Second }, "held them for 17 %", ""},
		{"Little's law", false, func(e *evidence) { e.lagSum = 20 * time.Second }, "keep 8.0 of 64 connections in service", ""},
		{"Little's law of streams", false, func(e *evidence) { e.lagSum, e.summary.Streams = 20*time.Second, 10 }, "of 640 streams in service", ""},
		{"Little's law, just kept", false, func(e *evidence) { e.lagSum = 8 * time.Second }, "", ""},
		{"all CPUs", false, func(e *evidence) { e.spent.cpu, e.loopback = 19500*time.Millisecond, false }, "1.95 of 2 CPUs", ""},
		{"an event loop is full", false, func(e *evidence) { e.loopBusy = 0.97 }, "on CPU for 97 % of the time, so answers waited for it", ""},
		{"an event loop is full, open", true, func(e *evidence) { e.loopBusy = 0.99 }, "the rate and the latency percentiles cannot be trusted", ""},
		{"an event loop has pauses", false, func(e *evidence) { e.loopBusy = 0.80 }, "", ""},
		{"an event loop is full while there is load", false, func(e *evidence) { e.loopBusy, e.on = 0.40, 4*time.Second }, "on CPU for 100 % of the time", ""},
		{"an event loop has pauses while there is load", false, func(e *evidence) { e.loopBusy, e.on = 0.36, 5*time.Second }, "", ""},
		{"a full closed loop beside its target", false, func(e *evidence) { e.loopBusy, e.spent.cpu, e.spent.delay = 0.75, 9*time.Second, 5*time.Second }, "", "0.90 of the 2 CPUs"},
		{"waits for CPUs", false, func(e *evidence) { e.spent.delay = 2 * time.Second }, "", "run queue for 200 ms per second, 50 % of the time that they were ready to run"},
		{"waits for CPUs, and has little to do", false, func(e *evidence) { e.spent.cpu, e.spent.delay = 800*time.Millisecond, 390*time.Millisecond }, "", ""},
		{"nothing known of waiting for CPUs", false, func(e *evidence) { e.spent.delay, e.spent.known = 2*time.Second, false }, "", ""},
		{"never sent for want of time", true, func(e *evidence) { e.waiting, e.loopBusy = 1000, 0.98 }, "the offered rate cannot be trusted", ""},
		{"connections missing for want of descriptors", false, func(e *evidence) {
			e.spent.open, e.failures[KindTooManyFDs.index()] = 12.5, errors.New("socket: too many open files")
		}, "12.5 of 64 connections were open on average: the generator ran out of file descriptors", "12.5 of 64"},
		{"connections refused", false, func(e *evidence) {
			e.spent.open, e.failures[KindRefused.index()] = 12.5, errors.New("connect: connection refused")
		}, "", "12.5 of 64 connections"},
		{"an open loop needs few connections", true, func(e *evidence) { e.spent.open = 3 }, "", ""},
		{"an open loop holds its connections", true, func(e *evidence) { e.spent.open, e.held = 3, true }, "", "3.0 of 64 connections"},
		{"shares the target's CPUs", false, func(e *evidence) { e.spent.cpu = 8 * time.Second }, "", "0.80 of the 2 CPUs that the target runs on"},
		{"own CPUs", false, func(e *evidence) { e.spent.cpu, e.loopback = 8*time.Second, false }, "", ""},
		{"descriptors", false, func(e *evidence) { e.summary.ErrorKinds["too-many-fds"] = 100 }, "100 of 20000 requests", ""},
		{"ports", true, func(e *evidence) { e.summary.ErrorKinds["no-free-port"] = 100 }, "local ports", ""},
		{"a port in a million", true, func(e *evidence) { e.summary.ErrorKinds["no-free-port"] = 1 }, "", ""},
		{"never sent", true, func(e *evidence) { e.waiting = 1000 }, "1000 of 21000 due requests had not ended", "1000 of 21000 due requests were never sent"},
		{"not kept up", true, func(e *evidence) { e.summary.Rate = 1900 }, "", "1900 requests/s were answered of 2000/s"},
		{"unanswered", false, func(e *evidence) { e.begun, e.oldest = 3, 4*time.Second }, "", "3 requests were unanswered at the end of the grace time, the oldest after 4.00 s"},
		{"one in 100 unanswered", false, func(e *evidence) { e.begun = 202 }, "", "202 requests were unanswered"},
		{"more than one in 100 unanswered", false, func(e *evidence) { e.begun, e.grace = 203, 2*time.Second }, "203 of 20203 due requests had not ended 2.00 s after the end of the load, so", "203 requests"},
		{"most unanswered", true, func(e *evidence) { e.summary.Requests, e.begun, e.waiting = 217, 512, 2271 }, "2783 of 3000 due requests had not ended 0 ns after the end of the load (2271 of them were never sent)", "2271 of 3000"},
		{"none ended", false, func(e *evidence) { e.summary.Requests, e.begun, e.spent = 0, 64, spent{} }, "64 of 64", "64 requests"},
		{"unanswered when it was interrupted", false, func(e *evidence) { e.begun, e.cut = 500, true }, "", "500 requests"},
		{"connections missing", false, func(e *evidence) { e.spent.open = 12.5 }, "", "12.5 of 64 connections"},
		{"connections ramped", false, func(e *evidence) { e.spent.open, e.ramped = 12.5, true }, "", ""},
		{"failures quoted", false, func(e *evidence) { e.failures[KindRefused.index()] = errors.New("dial: nobody there") }, "", "kind refused: dial: nobody there"},
	}
	for _, test := range tests {
		e := healthy(test.open)
		test.change(e)
		g, warnings := validity(e)
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
		if got := loopback(&scenario.Plan{Requests: []scenario.Request{{URL: feeder.Template(url)}}}); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}
