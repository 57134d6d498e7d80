package diagnose_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/series"
)

const handle = "shop/web.Show@web.go:20"

func within(t *testing.T, what string, got, least, most float64) {
	t.Helper()
	if !(got >= least && got <= most) {
		t.Errorf("%s is worth %.2fx, want %.1f to %.1f", what, got, least, most)
	}
}

// A generator that uses as much CPU in windows with few requests as in those with many
// does not bound the rate; one whose CPU is proportional to the requests does.
func TestGeneratorBoundsByWhatFollowsTheRate(t *testing.T) {
	requests := func(window int) float64 { return 80 + 40*float64(window%2) }
	for name, c := range map[string]struct {
		cpu         func(window int) float64
		least, most float64
	}{
		"at any rate":    {func(int) float64 { return 1e7 }, 9.5, 10.5},                     // 1.8 to 0.18 CPUs
		"with each":      {func(w int) float64 { return 1e5 * requests(w) }, 6.3, 7},        // 1.9 to 0.28
		"half with each": {func(w int) float64 { return 5e6 + 5e4*requests(w) }, 7.6, 8.4},  // 1.85 to 0.23
		"less with more": {func(w int) float64 { return 2e7 - 1e5*requests(w) }, 9.5, 10.5}, // never below none
	} {
		b := New(12, 10*time.Millisecond).CPU(2, 1.9, 1.8, 0.1, 0).Wait(breakdown.StateRunning, 9*time.Millisecond, 1).
			Series(series.LoadRequests, "", requests).Series(series.GeneratorCPU, "", c.cpu)
		runWith(t, b, func(p *diagnose.Pass) { within(t, name, p.Ran(evidence.Work{Share: 0.9}).Factor, c.least, c.most) })
	}
}

// An idle thread looks for work: the less work there is, the more it looks. That is no demand
// of a request.
func TestSearchForWorkIsNoDemand(t *testing.T) {
	sleeps := func() *Builder {
		return New(16, 40*time.Millisecond).CPU(2, 0.2, 0.2, 0, 0).Wait(breakdown.StateSleep, 39*time.Millisecond, 1, "time.Sleep", handle)
	}
	searching := []string{"runtime.stealWork", "runtime.findRunnable", "runtime.schedule", "runtime.mcall"}
	runWith(t, sleeps().Sample(2*time.Second, handle), func(p *diagnose.Pass) {
		within(t, "a sleep", p.Elsewhere(0.97).Factor, 9.5, 10.5)
	})
	runWith(t, sleeps().Sample(time.Second, handle).Background(time.Second, searching...), func(p *diagnose.Pass) {
		within(t, "a sleep while half is search", p.Elsewhere(0.97).Factor, 16, 19)
	})
}

// A logger writes under its own lock: its work is worth its share of that lock, however
// idle the CPUs are.
func TestLoggingIsWorthItsLock(t *testing.T) {
	held := breakdown.Chain{Links: []breakdown.Link{{Goroutine: "net/http.(*conn).serve", Request: true, State: breakdown.StateRunning}}}
	b := New(64, 40*time.Millisecond).CPU(2, 0.6, 0.5, 0.1, 0).Wait(breakdown.StateRunning, time.Millisecond, 1).
		Wait(breakdown.StateLock, 38*time.Millisecond, 1, "sync.(*Mutex).Lock", "log.(*Logger).output", "log.Printf", handle).
		WakerRequest("sync.(*Mutex).Unlock", "log.(*Logger).output", "log.Printf", handle).
		Behind(held).
		Sample(9*time.Second, "syscall.write", "log.(*Logger).output", "log.Printf", handle).Sample(time.Second, handle)
	runWith(t, b, func(p *diagnose.Pass) {
		within(t, "what the log takes", p.Ran(evidence.Work{Share: 0.9, Roles: callstack.Logging}).Factor, 8, 11)
		within(t, "the same CPU elsewhere", p.Ran(evidence.Work{Share: 0.9}).Factor, 1, 1.2)
		half := p.Ran(evidence.Work{Share: 0.45, Function: "log.Printf"})
		within(t, "half of what a function does under the lock", half.Factor, 1.6, 2)
	})
}

// On idle CPUs what a worker does in the background shortens no request, and what requests do takes all of their running time,
// whatever part of the service's CPU it is.
func TestWorkShortensWhoDoesIt(t *testing.T) {
	const draw, answer = "shop/queue.draw", "shop/web.answer"
	b := New(1, 10*time.Millisecond).CPU(4, 2.1, 2, 0.1, 0).Wait(breakdown.StateRunning, 8*time.Millisecond, 1).
		Wait(breakdown.StateNetwork, 2*time.Millisecond, 1, Query()...).
		Background(6*time.Second, draw, "shop/queue.Start.func1").Sample(4*time.Second, answer)
	runWith(t, b, func(p *diagnose.Pass) {
		within(t, "a worker's", p.Ran(evidence.Work{Share: 0.6, Function: draw}).Factor, 1, 1.01)
		within(t, "the requests'", p.Ran(evidence.Work{Share: 0.4, Function: answer}).Factor, 3, 3.2) // then by the worker's CPU
		within(t, "nobody's in particular", p.Ran(evidence.Work{Share: 0.4}).Factor, 1/(1-0.4*0.8)-0.05, 1/(1-0.4*0.8)+0.05)
	})
}

// The rest of a request queues less for CPUs on which work is saved.
func TestSparedWorkShortensTheQueue(t *testing.T) {
	b := New(16, 10*time.Millisecond).CPU(2, 1.8, 1, 0.1, 0).Wait(breakdown.StateNetwork, 5*time.Millisecond, 1, Query()...).
		Wait(breakdown.StateRunnable, 4*time.Millisecond, 5).Wait(breakdown.StateRunning, time.Millisecond, 1)
	runWith(t, b, func(p *diagnose.Pass) {
		within(t, "the wait alone", p.Freed(0.5, 0, 0).Factor, 1.3/1.1-0.01, 1.3/1.1+0.01) // 0.7 CPUs are other programs'
		within(t, "the wait with two thirds of the CPU", p.Freed(0.5, 0.8, 1.2).Factor, 2.5, 2.9)
	})
}

// Other programs take the CPUs that a service does not ask for. Where its requests queue for connections that wait
// for another service, or for each other's locks, they hardly wait for a CPU, nor does the database for
// them: what they could use bounds the gain, not what they were left. Where they may wait for a CPU, the load could still
// grow to half of the CPUs, which the scheduler divides fairly.
func TestBusyCPUsBoundOnlyWhoQueuesForThem(t *testing.T) {
	upstream := []string{"net/http.(*Transport).roundTrip", "net/http.(*Client).Do", handle}
	pool := append(PoolWait(), handle)
	requests := func(asks time.Duration) *Builder {
		return New(24, 90*time.Millisecond).CPU(2, 1.98, 0.17, 0.08, 0.13).
			Gauge(series.DBBackends, series.Labels("state", "active"), 20).
			Wait(breakdown.StateSelect, 77*time.Millisecond-asks, 1, pool...).
			Wait(breakdown.StateSelect, 13*time.Millisecond, 1, upstream...).
			Wait(breakdown.StateNetwork, asks, 1, Query()...)
	}
	pooled := func(p *diagnose.Pass) float64 { return p.Waited(p.Waits().Share(callstack.PoolWait)).Factor }
	runWith(t, requests(2*time.Millisecond), func(p *diagnose.Pass) { within(t, "the queue for a pool", pooled(p), 5, 6.1) })
	runWith(t, requests(20*time.Millisecond), func(p *diagnose.Pass) {
		within(t, "the queue for a pool whose connections may wait for CPUs", pooled(p), 1/0.38-0.05, 1/0.38+0.05)
	})
	locked := requests(20*time.Millisecond).Gauge(series.DBBlocked, "", 19)
	runWith(t, locked, func(p *diagnose.Pass) {
		within(t, "waits for a lock", p.Waited(p.Waits().Share(callstack.DatabaseWait)).Factor, 1.25, 1.35)
	})
}

// The CPU of a program that the service asks is demand of its requests, as the database's is: not asking frees it,
// asking sooner does not, and the service's own CPU is a part of the whole.
func TestPeersAreDemand(t *testing.T) {
	upstream := []string{"net/http.(*Transport).roundTrip", "net/http.(*Client).Do", handle}
	requests := func() *Builder {
		return New(16, 10*time.Millisecond).CPU(2, 1.98, 0.3, 0.1, 0).Wait(breakdown.StateRunning, time.Millisecond, 1).
			Wait(breakdown.StateSelect, 9*time.Millisecond, 1, upstream...)
	}
	runWith(t, requests(), func(p *diagnose.Pass) {
		within(t, "an answer that comes from nowhere", p.Elsewhere(0.9).Factor, 4.5, 5.1)
		within(t, "the same, not asked for", p.Unasked(0.9, 0).Factor, 4.5, 5.1)
	})
	runWith(t, requests().Peer("backend", "9001", 1.5), func(p *diagnose.Pass) {
		within(t, "a peer's answer that comes sooner", p.Elsewhere(0.9).Factor, 1, 1.01)
		within(t, "half of the asking", p.Unasked(0.45, 0).Factor, 1.9/1.15-0.05, 1.9/1.15+0.05)
		within(t, "half of the service's own CPU", p.Ran(evidence.Work{Share: 0.5}).Factor, 1, 1.1)
		within(t, "the CPUs that the load uses", p.CPU().Used(), 1.89, 1.91)
		if said := p.BusyPeers(); len(said) != 1 || said[0].Text != "backend, which the service calls on port 9001, uses 1.5 of 2 CPUs" {
			t.Errorf("said of peers: %+v", said)
		}
	})
}

// A server whose CPU is unknown uses at most one CPU for each request that waits for it: what else keeps the host
// busy is other programs'.
func TestUnknownServersAreBounded(t *testing.T) {
	for wait, used := range map[time.Duration]float64{200 * time.Microsecond: 0.92, 5 * time.Millisecond: 1.98} {
		b := New(16, 10*time.Millisecond).CPU(2, 1.98, 0.5, 0.1, -1).Wait(breakdown.StateRunning, 300*time.Microsecond, 1).
			Wait(breakdown.StateRunnable, 9700*time.Microsecond-wait, 3).
			Wait(breakdown.StateNetwork, wait, 1, Query()...)
		runWith(t, b, func(p *diagnose.Pass) {
			within(t, "the CPUs that the load uses", p.CPU().Used(), used-0.01, used+0.01)
			gain := used / (used - 0.25)
			within(t, "half of the service's own CPU", p.Ran(evidence.Work{Share: 0.5}).Factor, gain-0.02, gain+0.02)
		})
	}
}

// Where all servers on this host are seen, none is unknown: what else keeps the CPUs busy is other programs'.
func TestSeenServersAreAll(t *testing.T) {
	asks := New(16, 10*time.Millisecond).CPU(2, 1.98, 0.5, 0.1, -1).Wait(breakdown.StateRunning, 300*time.Microsecond, 1).
		Wait(breakdown.StateRunnable, 4*time.Millisecond, 3).
		Wait(breakdown.StateSelect, 5*time.Millisecond, 1, "net/http.(*Transport).roundTrip", "net/http.(*Client).Do", handle)
	runWith(t, asks.Peer("backend", "9001", 0.3), func(p *diagnose.Pass) {
		within(t, "the CPUs that the load uses", p.CPU().Used(), 0.89, 0.91)
	})
	runWith(t, asks.Gauge(series.PeersUnseen, "", 1), func(p *diagnose.Pass) {
		within(t, "the CPUs that the load uses, and unseen servers", p.CPU().Used(), 1.97, 1.99)
	})
}

// Peers that requests ask as their only servers, by a database's driver, are the database.
func TestPeersThatAreTheDatabase(t *testing.T) {
	asks := New(16, 10*time.Millisecond).CPU(2, 1.98, 0.3, 0.1, -1).Peer("mariadbd", "3306", 1.5).
		Wait(breakdown.StateRunning, time.Millisecond, 1).Wait(breakdown.StateNetwork, 9*time.Millisecond, 1, Query()...)
	runWith(t, asks, func(p *diagnose.Pass) {
		within(t, "the database's CPU", p.CPU().Database+p.CPU().Peers, 1.49, 1.51)
		within(t, "the database's CPU alone", p.CPU().Database, 1.49, 1.51)
	})
	upstream := func(b *Builder) *Builder {
		return b.Wait(breakdown.StateSelect, 5*time.Millisecond, 1, "net/http.(*Client).Do", handle)
	}
	runWith(t, upstream(asks).Peer("backend", "9001", 0.1), func(p *diagnose.Pass) {
		within(t, "the CPU of a database by its name", p.CPU().Database, 1.49, 1.51)
		within(t, "the upstream's CPU", p.CPU().Peers, 0.09, 0.11)
	})
	unnamed := New(16, 10*time.Millisecond).CPU(2, 1.98, 0.3, 0.1, -1).Peer("backend", "9001", 1.5).
		Wait(breakdown.StateRunning, time.Millisecond, 1).Wait(breakdown.StateNetwork, 4*time.Millisecond, 1, Query()...)
	for name, b := range map[string]*Builder{
		"an end that is not seen": asks.Gauge(series.PeersUnseen, "", 1),
		"an upstream, too":        upstream(unnamed),
	} {
		runWith(t, b, func(p *diagnose.Pass) {
			if d := p.CPU().Database; !math.IsNaN(d) {
				t.Errorf("%s: the database uses %v", name, d)
			}
		})
	}
}

// The error of a share is that of the samples, or of the whole requests, on which it is based.
func TestErrorOfAShare(t *testing.T) {
	sampled := func(total time.Duration) *Builder {
		return New(16, 8*time.Millisecond).CPU(2, 2, 2, 0, 0).Sample(total*19/20, handle).Sample(total/20, "shop/web.Rest@web.go:80").
			Wait(breakdown.StateRunning, 8*time.Millisecond, 1)
	}
	for total, want := range map[time.Duration][2]float64{2 * time.Second: {12.4, 50}, 18 * time.Second: {16.6, 26}} {
		runWith(t, sampled(total), func(p *diagnose.Pass) {
			g := p.Ran(evidence.Work{Share: 0.95})
			within(t, "the low end of 95 %", g.Low, want[0]-0.4, want[0]+0.4)
			within(t, "the high end of 95 %", g.High, want[1]-1, want[1]+1)
			var f diagnose.Finding
			if diagnose.Promise(&f, g); f.GainLow != g.Low || f.GainHigh != g.High {
				t.Errorf("the finding has %v to %v", f.GainLow, f.GainHigh)
			}
			n := float64(p.Anatomy.Requests)
			within(t, "the error of half of the requests' time", p.TimeError(0.5)*100, 99/math.Sqrt(n), 101/math.Sqrt(n))
		})
	}
	runWith(t, New(16, 8*time.Millisecond), func(p *diagnose.Pass) {
		if p.TimeError(0.5) != 0 || p.CPUError(0.5) != 0 {
			t.Error("nothing was observed, and the error is known")
		}
	})
}

// TestSourceSaysWhatItLacks: what a source that works says of the data that it lacks is the reason, not how such data are had.
func TestSourceSaysWhatItLacks(t *testing.T) {
	runWith(t, New(8, time.Millisecond), func(p *diagnose.Pass) {
		p.Record.Run.Sources = []record.SourceHealth{
			{Name: "profiles", OK: true, Why: "late; the allocs profile is empty, and the target may not sample it"},
			{Name: "postgres", OK: true, Why: "no statement figures, because pg_stat_statements is not installed: run CREATE EXTENSION"},
		}
		if err := disk.WriteJSON(p.Record.Dir, database.File, database.Statements{Database: "shop"}); err != nil {
			t.Fatal(err)
		}
		if why := p.Explain(diagnose.NeedAllocs); why != "the allocs profile is empty, and the target may not sample it" {
			t.Errorf("allocations: %s", why)
		}
		if why := p.Explain(diagnose.NeedStatements); !strings.Contains(why, "CREATE EXTENSION") {
			t.Errorf("statements: %s", why)
		}
	})
}

// TestNoStatementIsNoMissingSource: a server that was asked and ran nothing is not told to be asked.
func TestNoStatementIsNoMissingSource(t *testing.T) {
	runWith(t, New(8, time.Millisecond), func(p *diagnose.Pass) {
		if why := p.Explain(diagnose.NeedStatements); !strings.Contains(why, "need --postgres") {
			t.Errorf("without a server: %s", why)
		}
	})
	runWith(t, New(8, time.Millisecond), func(p *diagnose.Pass) {
		if err := disk.WriteJSON(p.Record.Dir, database.File, database.Statements{Database: "shop"}); err != nil {
			t.Fatal(err)
		}
		if why := p.Explain(diagnose.NeedStatements); why != "the server counted no statement in the measured span" {
			t.Errorf("with a server that ran none: %s", why)
		}
	})
}

// TestChildrenAreTheLoadsDemand: the processes that a service starts use its host's CPUs for its requests, so that a wait for one of
// them cannot shrink below what they compute.
func TestChildrenAreTheLoadsDemand(t *testing.T) {
	const convert = "shop/thumbs.Convert@thumbs.go:30"
	run := []string{"syscall.Wait4", "os.(*Process).Wait", "os/exec.(*Cmd).Run", convert}
	converts := func(children, busy float64, each time.Duration) *Builder {
		b := New(10, 10*each).CPU(2, busy, 0.1, 0, 0).Children(children).Wait(breakdown.StateRunning, time.Millisecond, 1)
		return b.Wait(breakdown.StateSyscall, 2*each, 1, run...).Wait(breakdown.StateChannel, 8*each, 1, "runtime.chansend1", handle).
			WakerRequest("runtime.chanrecv1", handle).Behind(breakdown.Chain{Links: []breakdown.Link{{Goroutine: "net/http.(*conn).serve",
			Request: true, State: breakdown.StateSyscall, Times: 1, Stack: append(Stack(run...), Serving()...)}}})
	}
	const each = 100 * time.Millisecond
	runWith(t, converts(1.8, 1.96, each), func(p *diagnose.Pass) {
		within(t, "a queue for processes that fill the CPUs", p.Elsewhere(0.8).Factor, 1, 1.1)
		if !p.CPU().Saturated() {
			t.Error("CPUs that the processes fill count as spare")
		}
	})
	// Other programs take the rest, and processes that wait for it make requests wait.
	runWith(t, converts(1.2, 1.96, each), func(p *diagnose.Pass) {
		if !p.CPU().Saturated() {
			t.Error("nobody waits for the CPUs that processes wait for")
		}
	})
	ExpectAll(t, Alone(wait.Channel), converts(1.8, 1.96, each))
	if found := ExpectAll(t, Alone(wait.Channel), converts(0.5, 0.7, each), "concurrency-limit at web.go:20"); len(found) == 1 {
		within(t, "a limit while CPUs are idle", found[0].GainCeiling, 3, 3.7) // 2 CPUs, of which 0.6 are used
	}
}
