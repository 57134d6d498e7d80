package downstream_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

// TestConnectionsToTheDatabase: the kernel counts the connections of a database's pool as well. They are no client's whose
// connections are kept, where the hooks see that client or the server counts its sessions.
func TestConnectionsToTheDatabase(t *testing.T) {
	limited := func(client ...string) *Builder {
		b := New(16, 23*ms).CPU(2, 0.5, 0.2, 0.1, 0.1).Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateSelect, 17*ms, 1, append([]string{"runtime.selectgo"}, client...)...).
			Wait(breakdown.StateNetwork, 5*ms, 1, Query()...)
		return b.Counter(series.TCPOpens, series.Labels("dir", "out"), 0.6*b.Requests())
	}
	transport := []string{"net/http.(*Transport).getConn", "net/http.(*Transport).roundTrip", "net/http.(*Client).Do", get}
	hooked := func(opened float64) *Builder {
		b := limited(transport...)
		n := int64(b.Requests())
		return b.Asks(operation.Dial, "quotes:80", n, 17*ms, 0).Kept(0, int64(opened*float64(n)))
	}
	Expect(t, downstream.Churn, hooked(0.001))
	Expect(t, wait.Channel, hooked(0.001), "concurrency-limit at cache.go:41")
	Expect(t, downstream.Churn, hooked(0.4), "http-client-churn at cache.go:41")
	// Without hooks the database's sessions are subtracted.
	sessions := func(each float64) *Builder {
		b := limited(transport...)
		return b.Counter(series.DBSessions, "", each*b.Requests())
	}
	Expect(t, downstream.Churn, sessions(0.6))
	Expect(t, downstream.Churn, sessions(0.1), "http-client-churn at cache.go:41")
	// The hooks do not see another client.
	other := limited("github.com/bradfitz/gomemcache/memcache.(*Client).dial", "github.com/bradfitz/gomemcache/memcache.(*Client).Get", get)
	Expect(t, downstream.Churn, other.Asks(operation.Dial, "quotes:80", 100, ms, 0), "http-client-churn at cache.go:41")
}

// TestChurnOfFasthttp: its client has no Transport and no bound on idle connections.
func TestChurnOfFasthttp(t *testing.T) {
	const client = "github.com/valyala/fasthttp.(*HostClient)"
	b := idle().Wait(breakdown.StateNetwork, 10*ms, 0.9, "net.(*netFD).connect", client+".dialHostHard", client+".acquireConn",
		client+".Do", get)
	found := Expect(t, downstream.Churn, b, "http-client-churn at cache.go:41")
	if len(found) == 1 && (!strings.HasPrefix(found[0].Title, "A fasthttp client opens") ||
		!strings.Contains(found[0].Remedy, "MaxIdleConnDuration") || strings.Contains(found[0].Remedy, "Transport")) {
		t.Errorf("%s: %s", found[0].Title, found[0].Remedy)
	}
}

// TestDialsBesideTheDatabase: the kernel counts the database's sessions too, which are not dialled for calls.
func TestDialsBesideTheDatabase(t *testing.T) {
	dials := func() *Builder {
		b := New(8, 40*ms).CPU(2, 1.96, 1.6, 0.26, 0.1).Wait(breakdown.StateRunning, 4*ms, 4).Busy(9*time.Second).
			Sample(4*time.Second, "syscall.connect", "net.(*netFD).connect", "net.(*Dialer).DialContext",
				"shop/dns.(*Resolver).Resolve@resolver.go:50")
		return b.Counter(series.TCPOpens, "dir=out", b.Requests())
	}
	Expect(t, downstream.Churn, dials(), "http-client-churn at resolver.go:50")
	b := dials()
	Expect(t, downstream.Churn, b.Counter(series.DBSessions, "", 0.9*b.Requests()))
}

// TestDialsForTheNextCall: net/http dials on while another call's connection becomes idle, and leaves the dialled one to the next call. The
// hooks count all that it opens; in bundles from before that, the kernel's count holds if no other client was seen.
func TestDialsForTheNextCall(t *testing.T) {
	connect := []string{"runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", get}
	dials := func(kind operation.Kind, each float64) *Builder {
		b := New(8, 40*ms).CPU(2, 0.6, 0.4, 0.1, 0).Wait(breakdown.StateRunning, 4*ms, 4).Wait(breakdown.StateSelect, 20*ms, 1, connect...)
		b.Counter(series.TCPOpens, "dir=out", 0.5*b.Requests()).Dials("shop:80", int64(0.1*b.Requests()))
		return b.Asks(kind, "shop:80", int64(each*b.Requests()), ms, 1, Caller(1, ms, get))
	}
	for want, b := range map[string]*Builder{"opens 0.5 connections per request": dials(operation.HTTP, 1),
		"opens a connection per 10 requests":   dials(operation.Redis, 1),
		"opens a connection per 3.33 requests": dials(operation.Connect, 0.3)} {
		found := Expect(t, downstream.Churn, b, "http-client-churn at cache.go:41")
		if len(found) == 1 && !strings.Contains(found[0].Title, want) {
			t.Errorf("%s, want %s", found[0].Title, want)
		}
	}
}
