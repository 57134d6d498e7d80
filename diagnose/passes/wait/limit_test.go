package wait_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

const reader = "net/http.(*persistConn).readLoop"

// asking is what a goroutine does that began in entry: a call of another service.
func asking(entry string) breakdown.Chain {
	return breakdown.Chain{Links: []breakdown.Link{
		{Goroutine: entry, State: breakdown.StateSelect, Times: 1,
			Stack: Stack("runtime.selectgo", "net/http.(*persistConn).roundTrip", set, entry)},
		{Goroutine: reader, State: breakdown.StateNetwork, Stack: Stack("net.(*conn).Read", reader)}}}
}

// called adds a call of the request's own.
func called(b *Builder) *Builder {
	return b.Wait(breakdown.StateSelect, 5*ms, 2, "runtime.selectgo", "net/http.(*persistConn).roundTrip", set)
}

// computing is a goroutine that runs.
func computing(entry string) breakdown.Chain {
	return breakdown.Chain{Links: []breakdown.Link{{Goroutine: entry, State: breakdown.StateRunning}}}
}

// TestLimitOfARequestsOwn: a request that starts goroutines up to a limit waits for one of them to end before it
// starts the next. What they wait for is not what makes them wait in turn.
func TestLimitOfARequestsOwn(t *testing.T) {
	const entry, group = "shop/cache.(*Cache).Get.func1", "golang.org/x/sync/errgroup.(*Group).Go"
	grouped := func(from *Builder, started, waits float64) *Builder {
		return from.Wait(breakdown.StateChannel, 30*ms, waits, "runtime.chansend1", group, get).
			Waker("runtime.chanrecv1", "golang.org/x/sync/errgroup.(*Group).done", group+".func1").Spawned(started).Behind(asking(entry))
	}
	channel := func(started float64) *Builder {
		return New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, 2*ms, 3).
			Wait(breakdown.StateSelect, 30*ms, 5, "runtime.selectgo", get). // or its context ends
			Waker("runtime.chanrecv1", entry+".1", entry).Spawned(started).Behind(asking(entry))
	}
	for name, c := range map[string]struct {
		b          *Builder
		title, do  string
		least, max float64
	}{
		"one":       {grouped(idle(), 6, 5), "where a limit of 1 makes their own goroutines serial", "from 1 to 6", 4, 5.5},
		"three":     {grouped(idle(), 8, 5), "where a limit of 3 lets them run 3 at a time", "from 3 to 8", 2.6, 2.7}, // 8 by 3
		"a channel": {channel(6), "where a limit of 1 makes their own goroutines serial", "from 1 to 6", 3.9, 4.1},
		// Other programs use the CPUs, which a call to another service does not need.
		"a busy host": {grouped(called(New(8, 40*ms).CPU(2, 1.98, 0.1, 0.1, -1).Peer("backend", "9001", 0.1)), 6, 5),
			"where a limit of 1", "from 1 to 6", 4, 7},
	} {
		found := Expect(t, wait.Channel, c.b, "concurrency-limit at cache.go:41")
		if len(found) != 1 {
			continue
		}
		f := found[0]
		if !strings.Contains(f.Title, c.title) || !strings.Contains(f.Remedy, c.do) || f.GainCeiling < c.least || f.GainCeiling > c.max {
			t.Errorf("%s: worth %.2fx: %s: %s", name, f.GainCeiling, f.Title, f.Remedy)
		}
	}
	ExpectFirst(t, suite.All(), channel(6), "concurrency-limit") // not the calls of its goroutines
	Expect(t, wait.Channel, channel(1))                          // one worker takes item after item
}

// TestLimitOfOne: slots are whole, and all of them are taken while requests wait.
func TestLimitOfOne(t *testing.T) {
	slot := func(own breakdown.Chain, cpu, works float64) *Builder {
		return called(New(8, 40*ms).CPU(2, cpu, works, 0.1, -1).Wait(breakdown.StateRunning, us*100, 3)).Peer("backend", "9001", 0.1).
			Wait(breakdown.StateChannel, 35*ms, 1, "runtime.chansend1", get).WakerRequest("runtime.chanrecv1", get).Behind(own)
	}
	serves := asking("net/http.(*conn).serve")
	for name, c := range map[string]struct {
		b     *Builder
		title string
		least float64
	}{
		"one":         {slot(serves, 0.6, 0.3), "where a limit of 1 makes them serial", 3},
		"a busy host": {slot(serves, 1.98, 0.1), "where a limit of 1 makes them serial", 6},
		"several":     {slot(serves, 0.6, 0.3).Wait(breakdown.StateNetwork, 8*ms, 1, Query()...), "for a slot of a concurrency limit", 3},
	} {
		found := Expect(t, wait.Channel, c.b, "concurrency-limit at cache.go:41")
		if len(found) == 1 && (!strings.Contains(found[0].Title, c.title) || found[0].GainCeiling < c.least) {
			t.Errorf("%s: worth %.2fx: %s", name, found[0].GainCeiling, found[0].Title)
		}
		if len(found) == 1 && !strings.Contains(found[0].Remedy, "100 % of that time goes into a call: if its response is the same") {
			t.Errorf("%s: the call makes the queue, and not the limit alone: %s", name, found[0].Remedy)
		}
	}
	// Its holder computes, and the CPUs are full.
	found := Expect(t, wait.Channel, slot(computing("net/http.(*conn).serve"), 1.98, 1.7), "concurrency-limit at cache.go:41")
	if len(found) == 1 && found[0].GainCeiling > 1.2 {
		t.Errorf("worth %.2fx on CPUs that are saturated", found[0].GainCeiling)
	}
	if len(found) == 1 && strings.Contains(found[0].Remedy, "goes into a call") {
		t.Errorf("no call: %s", found[0].Remedy)
	}
}

// TestConnectionsToAHost: if hardly any connection is opened, requests that wait for one in net/http's transport queue for
// those that MaxConnsPerHost allows. Otherwise they wait for one to be opened.
func TestConnectionsToAHost(t *testing.T) {
	getConn := []string{"runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Transport).roundTrip",
		"net/http.(*Client).Do", get}
	waits := func(opened float64) *Builder {
		b := New(8, 23*ms).CPU(2, 0.5, 0.2, 0.1, 0).Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateSelect, 17*ms, 1, getConn...)
		b.Wait(breakdown.StateSelect, 5*ms, 2, "runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", get)
		return b.Counter(series.TCPOpens, series.Labels("dir", "out"), opened*b.Requests())
	}
	found := Expect(t, wait.Channel, waits(0.001), "concurrency-limit at cache.go:41")
	const raise = "MaxConnsPerHost of the client's Transport from at most about 2"
	if len(found) == 1 && (!strings.Contains(found[0].Remedy, raise) || found[0].GainCeiling < 3) {
		t.Errorf("%s, worth %.2fx", found[0].Remedy, found[0].GainCeiling)
	}
	Expect(t, wait.Channel, waits(0.9))
	Expect(t, wait.Channel, waits(0.001).Dials("quotes:80", int64(waits(0).Requests()))) // the hooks see streams, which are no sockets
	// Nothing is opened either where nobody listens: each request waits for an attempt.
	refused := waits(0.001).Dials("quotes:80", 0).Asks(operation.Dial, "quotes:80", int64(waits(0).Requests()), 17*ms, 0).
		Asks(operation.Connect, "quotes:80", int64(waits(0).Requests()), 17*ms, 0).Failing(1)
	Expect(t, wait.Channel, refused)
	ExpectFirst(t, suite.All(), waits(0.001), "concurrency-limit")
}
