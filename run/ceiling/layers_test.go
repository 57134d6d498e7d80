package ceiling

import (
	"context"
	"encoding/json"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var machine = Measured{CPUs: 2, RoundTrip: 20 * time.Microsecond, RoundTrips: 90_000, Syscalls: 8e6, Accepts: 15_000,
	Handshakes: 2500, JSON: 60e6, Fsyncs: 900}

var kernel = Limits{Backlog: 4096, SynBacklog: 1024, Ports: 28_232, Files: 1024, MostFiles: 524_288, Buffers: 1 << 30, Socket: 147_456}

// TestFirst: which layer is the first limit follows from what the load goes through.
func TestFirst(t *testing.T) {
	for _, c := range []struct {
		name                  string
		demand                Demand
		requests, connections string
	}{
		{"keep-alive", Demand{}, "TCP round trips", "open files"},
		{"a connection for each request", Demand{Reconnects: true}, "ports in TIME_WAIT", "open files"},
		{"large documents", Demand{Body: 100_000}, "JSON", "open files"},
	} {
		r := Layers(machine, kernel, c.demand)
		if r.First[Requests] != c.requests || r.First[Connections] != c.connections {
			t.Errorf("%s: %v", c.name, r.First)
		}
	}
	many := kernel
	many.Files, many.Ports = 1<<20, 0
	if r := Layers(machine, many, Demand{}); r.First[Connections] != "TCP buffers" {
		t.Errorf("with many files: %v", r.First)
	}
}

func TestShares(t *testing.T) {
	r := Layers(machine, kernel, Demand{Rate: 9000, Connections: 512})
	for _, layer := range r.Layers {
		if layer.Raise == "" || layer.Cost == "" || layer.Basis == "" {
			t.Errorf("%s says too little: %+v", layer.Name, layer)
		}
		if strings.Contains(layer.Raise, "...") {
			t.Errorf("%s has no complete command to raise it: %s", layer.Name, layer.Raise)
		}
		switch layer.Name {
		case "TCP round trips":
			if layer.Used != 0.1 {
				t.Errorf("9,000 of %v/s are %v", layer.Allows, layer.Used)
			}
		case "open files":
			if layer.Used != 0.5 || !strings.Contains(layer.Raise, "524288") && !strings.Contains(layer.Raise, "1048576") {
				t.Errorf("%+v", layer)
			}
		case "conntrack", "statements":
			t.Errorf("%s was neither measured nor known", layer.Name)
		}
	}
}

// TestAFullConntrackTableIsTheFirstLimit: no entry is free, which is not the same as no table.
func TestAFullConntrackTableIsTheFirstLimit(t *testing.T) {
	full := kernel
	full.MostConntrack = 262_144
	r := Layers(machine, full, Demand{Connections: 512})
	if r.First[Connections] != "conntrack" {
		t.Errorf("%v", r.First)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	full.Conntrack = 200_000
	if r := Layers(machine, full, Demand{}); r.First[Connections] != "open files" {
		t.Errorf("with free entries: %v", r.First)
	}
}

// TestTheTimeBeginsWithTheWork: connections that take longer than a layer is measured neither end it
// nor count for it. The times are those of synctest's clock, and take none.
func TestTheTimeBeginsWithTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := rate(t.Context(), 2, func(context.Context) (worker, error) {
			time.Sleep(2 * each)
			return worker{
				work: func() error {
					time.Sleep(time.Millisecond)
					return nil
				},
				end: func() {},
			}, nil
		})
		if err != nil || math.Abs(n-2000) > 10 {
			t.Errorf("%v/s, %v; two workers take 1 ms each", n, err)
		}
	})
}

// TestNothingDoneIsAnError: a rate of 0 would say nothing.
func TestNothingDoneIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if n, err := rate(ctx, 1, repeat(func() error { return nil })); err == nil {
			t.Errorf("%v/s", n)
		}
	})
}

// TestAServerThatHangsEndsWithTheContext: neither a connection that it never answers nor one that it
// never closes keeps a layer for good.
func TestAServerThatHangsEndsWithTheContext(t *testing.T) {
	silent, err := net.Listen("tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	address := silent.Addr().String()
	if n, err := rate(ctx, 1, func(ctx context.Context) (worker, error) { return exchange(ctx, address) }); err == nil {
		t.Errorf("%v round trips per second with a server that does not answer", n)
	}
	if err := visit(ctx, address); err == nil {
		t.Error("a connection was accepted that was not")
	}
}

// TestMeasure measures this machine: every layer gives a figure, except the database that
// is not there.
func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	m, err := Measure(t.Context(), "")
	if err != nil || len(m.Missing) > 0 {
		t.Fatal(err, m.Missing)
	}
	for name, v := range map[string]float64{"round trips": m.RoundTrips, "calls": m.Syscalls, "accepts": m.Accepts,
		"handshakes": m.Handshakes,
		"JSON":       m.JSON, "fsyncs": m.Fsyncs, "round trip": m.RoundTrip.Seconds()} {
		if !(v > 0) {
			t.Errorf("%s: %v", name, v)
		}
	}
	if m.Statements != 0 {
		t.Errorf("statements of no database: %v", m.Statements)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

func TestUnreachableDatabaseIsMissing(t *testing.T) {
	var m Measured
	m.CPUs = 1
	err := m.statements(t.Context(), "postgres://ada:secret@127.0.0.1:1/shop")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
