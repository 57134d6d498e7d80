package downstream_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

const (
	ms  = time.Millisecond
	us  = time.Microsecond
	get = "shop/quotes.(*Desk).Get@cache.go:41"
)

// idle leaves most CPUs idle; its requests take 8 ms in addition to the waits that a test adds.
func idle() *Builder {
	return New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateNetwork, 6*ms, 1, Query()...)
}

// get1 waits for the head of a response over HTTP/1, which takes two waits.
func get1(b *Builder, each time.Duration, calls float64, user ...string) *Builder {
	stack := append([]string{"runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do"}, user...)
	return b.Wait(breakdown.StateSelect, time.Duration(calls*float64(each)), 2*calls, stack...)
}

func TestSlow(t *testing.T) {
	Expect(t, downstream.Slow, get1(idle(), 30*ms, 1, get), "downstream-slow at cache.go:41")
	Expect(t, downstream.Slow, idle().Wait(breakdown.StateNetwork, 30*ms, 2, "net.(*conn).Read",
		"shop/legacy.(*Client).ask@legacy.go:5"), "downstream-slow at legacy.go:5")
	// fast
	Expect(t, downstream.Slow, get1(idle(), 2*ms, 1, get))
	// each read is fast
	Expect(t, downstream.Slow, idle().Wait(breakdown.StateNetwork, 30*ms, 100, "net.(*conn).Read", "shop/legacy.(*Client).ask@legacy.go:5"))
	Expect(t, downstream.Slow, get1(idle(), 5*ms, 6, get)) // reported as serial
	Expect(t, downstream.Slow, idle().Wait(breakdown.StateNetwork, 30*ms, 1, Query()...))
	// a slow caller
	Expect(t, downstream.Slow, idle().Wait(breakdown.StateNetwork, 30*ms, 1, "net.(*conn).Read",
		"net/http.(*connReader).Read", "net/http.(*body).Read", get))
}

// TestSlowAgainstOwn: the time of a response is compared with the service's own work and
// with the cost of a hand-over on this host, not with a fixed limit.
// All calls pass the transport that adds a header; their caller is named, and one that calls again
// and again calls in series.
func TestCallsThroughOwnTransport(t *testing.T) {
	const transport, do = "shop/client.(*keyed).RoundTrip@transport.go:33", "net/http.(*Client).Do"
	through := func(b *Builder, each time.Duration, calls float64, caller string) *Builder {
		return get1(b, each, calls, transport, "net/http.send", do, caller)
	}
	Expect(t, downstream.Slow, through(idle(), 30*ms, 1, "shop/rates.fetch@rates.go:12"), "downstream-slow at rates.go:12")
	b := through(idle(), 9*ms, 2, "shop/page.prices@page.go:20")
	Expect(t, downstream.Serial, through(b, 9*ms, 2, "shop/page.stock@page.go:31"), "downstream-serial at page.go:20")
}

func TestSlowAgainstOwn(t *testing.T) {
	const each = 2500 * us
	quick := New(64, 3*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, 200*us, 3).Wait(breakdown.StateRunnable, 20*us, 3)
	Expect(t, downstream.Slow, get1(quick, each, 1, get), "downstream-slow at cache.go:41")
	// The same host's CPUs are saturated, and the other service queues for them, too.
	crowded := func() *Builder {
		return New(64, 10*ms).CPU(2, 1.97, 1.2, 0.3, 0.1).Wait(breakdown.StateRunning, 200*us, 3).Wait(breakdown.StateRunnable, 5*ms, 8)
	}
	Expect(t, downstream.Slow, get1(crowded(), 5*ms, 1, get))
	Expect(t, downstream.Slow, get1(crowded(), 90*ms, 1, get), "downstream-slow at cache.go:41")
	// The response is there, and the transport's own goroutine waits for a CPU to read it.
	reader := breakdown.Chain{NS: int64(8 * ms), Links: []breakdown.Link{{Goroutine: "net/http.(*persistConn).readLoop",
		State: breakdown.StateRunnable}}}
	answers := breakdown.Chain{NS: int64(2 * ms), Links: []breakdown.Link{{Goroutine: "net/http.(*persistConn).readLoop",
		State: breakdown.StateNetwork}}}
	Expect(t, downstream.Slow, get1(idle(), 10*ms, 1, get).Behind(answers, reader))
}

// TestOwnService: a call that the target answers itself is no dependency's.
func TestOwnService(t *testing.T) {
	connected := func(b *Builder, self, other float64) *Builder {
		return b.Gauge(series.SocketsOutwards, "to=self", self).Gauge(series.SocketsOutwards, "to=other", other)
	}
	invoke := []string{"runtime.selectgo", "google.golang.org/grpc/internal/transport.(*recvBufferReader).readClient",
		"google.golang.org/grpc.(*ClientConn).Invoke", get}
	rpc := func() *Builder { return idle().Wait(breakdown.StateSelect, 30*ms, 1, invoke...) }
	Expect(t, downstream.Slow, connected(get1(idle(), 30*ms, 1, get), 0, 2), "downstream-slow at cache.go:41")
	// to which of them is not known
	Expect(t, downstream.Slow, connected(get1(idle(), 30*ms, 1, get), 1, 2), "downstream-slow at cache.go:41")
	// 3,200 are sent while the traces are taken, and each calls once: the traces hold a response for each call, or none
	half := func(begun int) *Builder {
		return connected(get1(idle(), 60*ms, 0.5, get), 1, 2).Served("net/http", begun)
	}
	Expect(t, downstream.Slow, half(3200), "downstream-slow at cache.go:41")
	Expect(t, downstream.Slow, half(6400))
	Expect(t, downstream.Slow, connected(get1(idle(), 30*ms, 1, get), 1, 0))
	Expect(t, downstream.Slow, connected(rpc(), 0, 2).Served("grpc", 10), "downstream-slow at cache.go:41")
	Expect(t, downstream.Slow, connected(rpc(), 1, 2).Served("net/http", 10), "downstream-slow at cache.go:41")
	Expect(t, downstream.Slow, connected(rpc(), 1, 2).Served("grpc", 10)) // beside its database
	Expect(t, downstream.Slow, connected(rpc(), 0, 0).Served("grpc", 10)) // through memory
	// by a Unix socket
	Expect(t, downstream.Slow, connected(rpc(), 0, 0).Served("net/http", 10), "downstream-slow at cache.go:41")
}

// TestOwnServersWork: requests wait for gRPC that their own process serves over loopback, on a
// host that other programs keep busy. The ledger books the wait on what the inner requests do, or on
// its own server if those were not analyzed, and what they run is worth its share of the load's
// CPU, because no other service is involved.
func TestOwnServersWork(t *testing.T) {
	const scan = "shop/tree.(*Index).Scan@index.go:117"
	const sent = 3200
	gateway := func(other float64, queued time.Duration, answered int) *Builder {
		b := New(64, 40*ms).CPU(2, 1.94, 0.5, 0.1, -1).Wait(breakdown.StateRunning, 4*ms, 3).Wait(breakdown.StateRunnable, queued, 5).
			Wait(breakdown.StateSelect, 20*ms, 0.5, "runtime.selectgo", "google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader",
				"google.golang.org/grpc.(*ClientConn).Invoke", get).Served("net/http", sent).Served("grpc", answered)
		return b.Sample(8*time.Second, scan).Sample(2*time.Second, "shop/tree.(*Index).Get@index.go:90").
			Gauge(series.SocketsOutwards, "to=self", 0.7).Gauge(series.SocketsOutwards, "to=other", other)
	}
	booked := func(out findings.Findings, who string) bool {
		return slices.ContainsFunc(out.Ledger.RequestTime, func(e findings.LedgerEntry) bool { return e.Who == who && e.Share > 0.4 })
	}
	inner := ExpectFirst(t, suite.All(), gateway(0, 8*ms, sent), "cpu-hot-function")
	if !booked(inner, "waiting for a CPU") || booked(inner, "its own server") {
		t.Errorf("what the inner requests do is not in the ledger: %+v", inner.Ledger.RequestTime)
	}
	own := ExpectFirst(t, suite.All(), gateway(0, 4*ms, sent), "cpu-hot-function")
	if !booked(own, "its own server") || own.Findings[0].GainCeiling < 2 {
		t.Errorf("its own server is not in the ledger, or its work is worth %.2f: %+v", own.Findings[0].GainCeiling, own.Ledger.RequestTime)
	}
	rec, body := gateway(3, 8*ms, 10).Open(t)
	asks, err := diagnose.Run(rec, body, suite.All())
	if err != nil || !booked(asks, "call to another service") {
		t.Errorf("beside other connections whose answer it is is not known: %+v, %v", asks.Ledger.RequestTime, err)
	}
	all := ExpectFirst(t, suite.All(), gateway(3, 8*ms, sent), "cpu-hot-function") // the traces hold a response for each
	if !booked(all, "waiting for a CPU") {
		t.Errorf("beside a database's connections its RPCs are its own: %+v", all.Ledger.RequestTime)
	}
}

func TestSerial(t *testing.T) {
	price, stock := "shop/page.price@page.go:7", "shop/page.stock@page.go:12"
	found := Expect(t, downstream.Serial, get1(get1(idle(), 12*ms, 1, price, "shop/page.show@page.go:30"), 10*ms, 1,
		stock, "shop/page.show@page.go:31"), "downstream-serial at page.go:30")
	// One call may need the response to another, as that for an issuer's keys needs their address.
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "cache them") {
		t.Errorf("responses that are the same for many requests: %s", found[0].Remedy)
	}
	Expect(t, downstream.Serial, get1(idle(), 5*ms, 6, get), "downstream-serial at cache.go:41")
	// One long call and a short one before it: the long one is slow.
	Expect(t, downstream.Serial, get1(get1(idle(), 30*ms, 1, price, "shop/page.show@page.go:30"), 3*ms, 1, stock,
		"shop/page.show@page.go:31"))
	// Three kinds of requests with a call each.
	Expect(t, downstream.Serial, get1(get1(get1(idle(), 20*ms, 0.3, price), 20*ms, 0.3, stock), 20*ms, 0.4, get))
	Expect(t, downstream.Serial, get1(idle(), 100*us, 6, get)) // too quick to matter
	ExpectUnjudged(t, downstream.Serial, idle().NoAnatomy(), "downstream-serial")
}

func TestRetry(t *testing.T) {
	failing := func(b *Builder, part float64) *Builder {
		return b.Counter(series.LoadErrors, series.Labels("kind", "status"), part*b.Requests())
	}
	// Two and a half calls in the mean, seven in the slowest.
	again := func() *Builder {
		return get1(idle(), 8*ms, 2.4, get).Slow(breakdown.StateSelect, 40*ms, "runtime.selectgo",
			"net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", get)
	}
	varied := func() *Builder {
		b := again()
		for range 4 { // more waits of the slow requests
			b.Slow(breakdown.StateSelect, ms, "runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", get)
		}
		return b
	}
	Expect(t, downstream.Retry, failing(varied(), 0.03), "retry-storm at cache.go:41")
	Expect(t, downstream.Retry, varied().Wait(breakdown.StateSleep, 4*ms, 1, "time.Sleep", get), "retry-storm at cache.go:41")
	Expect(t, downstream.Retry, failing(get1(idle(), 8*ms, 4, get), 0.5), "retry-storm at cache.go:41") // nearly all are used up
	// The call and the reading of its response are one loop's, and its pause is part of it.
	paused := failing(get1(get1(idle(), 8*ms, 4, "shop/cache.ask@cache.go:30", get), 6*ms, 4, "shop/cache.read@cache.go:35", get), 0.5).
		Wait(breakdown.StateSleep, 20*ms, 3, "time.Sleep", get)
	Expect(t, downstream.Retry, paused, "retry-storm at cache.go:41")
	ExpectAll(t, suite.All(), paused, "retry-storm at cache.go:41")
	Expect(t, downstream.Retry, varied())                                  // lists of different lengths
	Expect(t, downstream.Retry, failing(get1(idle(), 8*ms, 4, get), 0.01)) // a list of four
	Expect(t, downstream.Retry, failing(get1(idle(), 8*ms, 1, get), 0.3))  // failures, not retried
}

// TestRefusedCallsAreMadeAgain: the failures that the hooks count distinguish a retry that
// ends well from a list, without pauses and without requests that fail.
func TestRefusedCallsAreMadeAgain(t *testing.T) {
	counted := func(calls, failing float64) *Builder {
		b := get1(idle(), 8*ms, calls, get)
		return b.Asks(operation.HTTP, "GET warehouse/{}", int64(calls*b.Requests()), 3*ms, 0,
			Caller(1, 3*ms, "net/http.(*Transport).roundTrip", get)).Failing(failing)
	}
	Expect(t, downstream.Retry, counted(2.5, 0.6), "retry-storm at cache.go:41")
	Expect(t, downstream.Retry, counted(5, 0.6)) // a list of five, three of which fail
	Expect(t, downstream.Retry, counted(2.5, 0)) // a list
	Expect(t, downstream.Retry, counted(2.5, 1)) // a list, or a retry, on a service that is gone
}

func TestNames(t *testing.T) {
	look := []string{"runtime.chanrecv1", "net.(*Resolver).goLookupIPCNAMEOrder.func4",
		"net.(*Resolver).goLookupIPCNAMEOrder", "net.(*Resolver).LookupHost", get}
	Expect(t, downstream.Names, idle().Wait(breakdown.StateChannel, 9*ms, 2, look...), "dns-per-request at cache.go:41")
	Expect(t, downstream.Names, idle().Wait(breakdown.StateSyscall, 9*ms, 1, "runtime.cgocall",
		"net.cgoLookupHostIP", "net.(*Resolver).lookupIPAddr", get), "dns-per-request at cache.go:41")
	Expect(t, downstream.Names, idle().Wait(breakdown.StateChannel, 9*ms, 0.01, look...)) // at the start
	Expect(t, downstream.Names, idle().Wait(breakdown.StateChannel, 50*us, 2, look...))   // from a file
	// Below the transport's dial, in another goroutine.
	connect := []string{"runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", get}
	behind := breakdown.Chain{NS: int64(18 * ms), Links: []breakdown.Link{
		{Goroutine: "net/http.(*Transport).startDialConnForLocked.func1", State: breakdown.StateSelect},
		{Goroutine: "net.(*Resolver).goLookupIPCNAMEOrder.func3.1", State: breakdown.StateNetwork, Stack: Stack("net.(*conn).Read", "net.dnsPacketRoundTrip", "net.(*Resolver).exchange")},
	}}
	dialed := idle().Wait(breakdown.StateSelect, 20*ms, 0.9, connect...).Behind(behind)
	Expect(t, downstream.Names, dialed, "dns-per-request at cache.go:41")
	Expect(t, downstream.Churn, dialed) // the rest is little
	ExpectUnjudged(t, downstream.Names, idle().NoAnatomy(), "dns-per-request")
}

// TestTimeoutOfEqualLines: of lines at which as many requests wait, the first is named.
func TestTimeoutOfEqualLines(t *testing.T) {
	b := New(64, 3*ms).Rate(500)
	for line := range 20 {
		b.Standing(2, 40, "runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do",
			fmt.Sprintf("shop/cache.(*Cache).Get@cache.go:%d", 41+line))
	}
	Expect(t, downstream.Timeout, b, "missing-timeout at cache.go:41")
}

func TestTimeout(t *testing.T) {
	call := []string{"runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", get}
	// 500 per second of 3 ms are 1.5 in flight.
	load := func() *Builder { return New(64, 3*ms).Rate(500) }
	stuck := func() *Builder { return load().Late(600*ms, 0.02).Standing(2, 40, call...) }
	found := Expect(t, downstream.Timeout, stuck(), "missing-timeout at cache.go:41")
	// The mean is 15 ms and the median 2.7 ms, whatever the deadline will be.
	if len(found) == 1 && (found[0].ShareOf != diagnose.OfRequest || found[0].GainCeiling < 5 || found[0].GainCeiling > 6) {
		t.Errorf("worth %.2fx, %.2f of %s", found[0].GainCeiling, found[0].Share, found[0].ShareOf)
	}
	// The few that outlive their callers make the mean, and the dependency is not slow.
	calls := []diagnose.Analyzer{downstream.Names, database.Stampede, downstream.Churn, downstream.Timeout, downstream.Slow}
	ExpectAll(t, calls, get1(stuck(), 2900*us, 1, get), "missing-timeout")
	Expect(t, downstream.Timeout, load().Standing(2, 40, call...), "missing-timeout at cache.go:41")
	// an unlucky moment
	Expect(t, downstream.Timeout, load().Standing(1, 3, call...))
	// a burst, of which the load is waiting for each
	Expect(t, downstream.Timeout, load().Gauge(series.LoadInFlight, "", 41).Standing(0, 40, call...))
	// connections that wait for their next request, in a server that the service brings
	Expect(t, downstream.Timeout, load().Modules("github.com/valyala/fasthttp").Standing(40, 40, "net.(*conn).Read", "bufio.(*Reader).Peek",
		"github.com/valyala/fasthttp.(*Server).serveConnCounted@server.go:2424"))
	// subscribers, who send when they like
	Expect(t, downstream.Timeout, load().Modules("github.com/gorilla/websocket").Standing(40, 40, "net.(*conn).Read",
		"bufio.(*Reader).Peek", "github.com/gorilla/websocket.(*Conn).ReadMessage@conn.go:1000", get))
	// slow, and waited for
	Expect(t, downstream.Timeout, New(64, 200*ms).Rate(500).Standing(90, 110, call...))
	// the database's
	Expect(t, downstream.Timeout, load().Standing(2, 40, Query()...))
	// their own client's
	Expect(t, downstream.Timeout, load().Standing(2, 40, "net.(*conn).Read", "net/http.(*connReader).Read", "net/http.(*body).Read", get))
	ExpectUnjudged(t, downstream.Timeout, load(), "missing-timeout")
}

func TestChurn(t *testing.T) {
	connect := []string{"runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", get}
	Expect(t, downstream.Churn, idle().Wait(breakdown.StateSelect, 10*ms, 0.9, connect...), "http-client-churn at cache.go:41")
	Expect(t, downstream.Churn, idle().Wait(breakdown.StateSelect, 10*ms, 0.01, connect...)) // a few at the start
	Expect(t, downstream.Churn, idle().Wait(breakdown.StateSelect, 200*us, 0.9, connect...)) // cheap
}

// TestConnectionsPileUp: a transport per call leaves its connections behind, so their goroutines pile up, which follows from
// it; the remedy is one client. Others that pile up are a leak beside it.
func TestConnectionsPileUp(t *testing.T) {
	connect := []string{"runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", get}
	found := func(entry string) (causes []string, remedy string) {
		b := idle().Wait(breakdown.StateSelect, 20*ms, 0.9, connect...).Left(40, 1040, "runtime.gopark", entry)
		b.Series("/sched/goroutines:goroutines", "", func(w int) float64 { return 100 + 10*float64(w) })
		out := ExpectFirst(t, suite.All(), b, "http-client-churn")
		for _, f := range out.Findings {
			causes = append(causes, f.Cause)
		}
		return causes, out.Findings[0].Remedy
	}
	if causes, remedy := found("net/http.(*persistConn).readLoop"); len(causes) != 1 || !strings.Contains(remedy, "once and share it") {
		t.Errorf("%v: %s", causes, remedy)
	}
	if causes, remedy := found("shop/cache.(*watcher).watch"); !slices.Contains(causes, "goroutine-leak") ||
		strings.Contains(remedy, "once and share it") {
		t.Errorf("%v: %s", causes, remedy)
	}
}

// TestHandshakesOfChurn: a client's handshake runs in a goroutine of its own, below nothing of the service's.
func TestHandshakesOfChurn(t *testing.T) {
	b := idle().Wait(breakdown.StateSelect, 10*ms, 0.9, "runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", get).
		Background(2*time.Second, "crypto/ecdh.x25519ScalarMult", "crypto/tls.(*Conn).clientHandshake",
			"net/http.(*persistConn).addTLS.func2").
		Background(2*time.Second, "net.(*sysDialer).dialTCP", "net/http.(*Transport).dialConn", "net/http.(*Transport).dialConnFor").
		Background(2*time.Second, "crypto/ecdh.x25519ScalarMult", "crypto/tls.(*Conn).serverHandshake", "net/http.(*conn).serve")
	found := Expect(t, downstream.Churn, b, "http-client-churn at cache.go:41")
	const want = "67 % of the service's CPU goes into opening client connections, 33 % into their handshakes"
	if len(found) == 1 && !strings.Contains(fmt.Sprint(found[0].Evidence), want) {
		t.Errorf("%+v", found[0].Evidence)
	}
}

// TestChurnOfItsOwn: the service dials for each request itself, as the kernel's count and the profile show.
func TestChurnOfItsOwn(t *testing.T) {
	const resolve = "shop/dns.(*Resolver).Resolve@resolver.go:50"
	dials := func(each float64, frames ...string) *Builder {
		b := Healthy().Sample(4*time.Second, append(append([]string{"syscall.connect"}, frames...), resolve)...)
		return b.Counter(series.TCPOpens, "dir=out", each*b.Requests())
	}
	found := Expect(t, downstream.Churn, dials(1, "net.(*netFD).connect", "net.(*Dialer).DialContext"),
		"http-client-churn at resolver.go:50")
	if len(found) == 1 && (found[0].Confidence != findings.Medium ||
		!strings.HasPrefix(found[0].Title, "The service dials a connection per request")) {
		t.Errorf("%+v", found[0])
	}
	Expect(t, downstream.Churn, dials(0.1, "net.(*netFD).connect", "net.(*Dialer).DialContext")) // a few
	Expect(t, downstream.Churn, dials(1, "net.(*netFD).Write", "net.(*conn).Write"))             // something else
	// A database's driver
	Expect(t, downstream.Churn, dials(1, "net.(*Dialer).DialContext", "github.com/lib/pq.DialOpen"))
	// Over a network stack within the process, for a transport of its own per request: the kernel sees no connection, the hooks do, and
	// nobody waits in the transport.
	own := func(opened float64) *Builder {
		b := New(8, 40*ms).CPU(2, 0.9, 0.5, 0.1, 0.1).Wait(breakdown.StateRunning, 4*ms, 4)
		b.Wait(breakdown.StateSelect, 12*ms, 1, "runtime.selectgo", "gvisor.dev/gvisor/pkg/tcpip/adapters/gonet.DialTCPWithBind", resolve)
		b.Wait(breakdown.StateSelect, 40*us, 1, "runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", resolve)
		return b.Dials("tunnel:80", int64(opened*b.Requests()))
	}
	Expect(t, downstream.Churn, own(1), "http-client-churn at resolver.go:50")
	Expect(t, downstream.Churn, own(0.01))
}

// TestChurnOfFewSamples: of a service that hardly runs, a share of the CPU is a hint.
func TestChurnOfFewSamples(t *testing.T) {
	b := func(cpu time.Duration) *Builder {
		b := New(8, 40*ms).CPU(2, 0.2, 0.1, 0.1, 0).Wait(breakdown.StateRunning, 400*us, 4).
			Wait(breakdown.StateSelect, 40*us, 1, "runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", get).
			Sample(cpu, "syscall.connect", "net.(*netFD).connect", "net/http.(*Transport).dialConn", "net/http.(*Client).Do", get).
			Sample(cpu, "shop/web.Show@web.go:12")
		return b.Counter(series.TCPOpens, "dir=out", b.Requests())
	}
	for cpu, want := range map[time.Duration]findings.Confidence{300 * ms: findings.Low, 900 * ms: findings.High} {
		found := Expect(t, downstream.Churn, b(cpu), "http-client-churn at cache.go:41")
		if len(found) == 1 && found[0].Confidence != want {
			t.Errorf("%v of CPU: %s", cpu, found[0].Confidence)
		}
	}
}

// TestChurnWithItsClients: a client that each request makes begins without connections, so that making it belongs to the churn. One that
// is made while connections are kept is something else.
func TestChurnWithItsClients(t *testing.T) {
	const resolve, make = "shop/dns.(*Resolver).Resolve@resolver.go:50", "shop/dns.newFastClient@client.go:20"
	b := func(each float64, maker string) *Builder {
		b := Healthy().Sample(3*time.Second, "syscall.connect", "net.(*netFD).connect", "net.(*Dialer).DialContext", resolve).
			Sample(6*time.Second, "runtime.memclrNoHeapPointers", "runtime.mallocgc", maker, "shop/dns.Fetch@fetch.go:9")
		return b.Counter(series.TCPOpens, "dir=out", each*b.Requests())
	}
	found := Expect(t, downstream.Churn, b(1, make), "http-client-churn at resolver.go:50")
	apart := Expect(t, downstream.Churn, b(1, "shop/dns.newTable@table.go:20"), "http-client-churn at resolver.go:50")
	if len(found) != 1 || len(apart) != 1 {
		t.FailNow()
	}
	if found[0].Share < 2.5*apart[0].Share || !strings.HasPrefix(found[0].Remedy, "Each request creates a client (dns.newFastClient)") {
		t.Errorf("%.2f of %.2f: %s", found[0].Share, apart[0].Share, found[0].Remedy)
	}
	Expect(t, downstream.Churn, b(0.1, make))
	// What it dials counts once.
	const dials = "shop/dns.newConnection@conn.go:30"
	itself := Healthy().Sample(4*time.Second, "syscall.connect", "net.(*netFD).connect", "net.(*Dialer).DialContext", dials)
	itself.Counter(series.TCPOpens, "dir=out", itself.Requests())
	if found = Expect(t, downstream.Churn, itself, "http-client-churn at conn.go:30"); len(found) == 1 &&
		(found[0].Share > 0.35 || strings.Contains(found[0].Remedy, "creates a client")) {
		t.Errorf("counted twice: %.2f, %s", found[0].Share, found[0].Remedy)
	}
}

// TestChurnOfAResolver: a client of name servers dials one for each query, which does not follow from the waits for their responses.
func TestChurnOfAResolver(t *testing.T) {
	const resolve = "shop/dns.(*Resolver).Resolve@resolver.go:50"
	dial := []string{"syscall.connect", "net.(*netFD).connect", "net.(*Dialer).DialContext", resolve}
	b := New(16, 14*ms).CPU(2, 1.6, 1.3, 0.2, 0).Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateSyscall, 3*ms, 1, dial...).
		Wait(breakdown.StateNetwork, 9*ms, 1, "net.(*conn).Read", "github.com/miekg/dns.(*Client).Exchange", resolve).
		Sample(2*time.Second, dial...).Sample(2*time.Second, get)
	ExpectAll(t, suite.All(), b.Counter(series.TCPOpens, "dir=out", b.Requests()),
		"dns-per-request at resolver.go:50", "http-client-churn at resolver.go:50")
}

// TestChurnOfALibrary: a library calls in goroutines of its own, on whose stacks the service has no frame. The hooks saw where
// the calls begin.
func TestChurnOfALibrary(t *testing.T) {
	const ping = "github.com/kept/registry.ping.func1"
	dials := func() *Builder {
		return idle().Wait(breakdown.StateSelect, 10*ms, 0.9, "runtime.selectgo",
			"net/http.(*Transport).getConn", "net/http.(*Client).Do", ping)
	}
	b := dials()
	n := int64(b.Requests())
	b.Asks(operation.HTTP, "GET shop:80/v2/", n, ms, 0, Caller(1, ms, "net/http.(*Client).Do", ping)).
		Asks(operation.HTTP, "GET shop:80/v2/{}", n, ms, 0, Caller(1, ms, "net/http.(*Client).Do", "github.com/kept/registry.Get", get))
	Expect(t, downstream.Churn, b, "http-client-churn at cache.go:41")
	Expect(t, downstream.Churn, dials(), "http-client-churn at lib.go:0") // no hooks
}

// TestChurnOfStreams: the kernel counts no streams over one connection (yamux), the hooks do.
func TestChurnOfStreams(t *testing.T) {
	connect := []string{"runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", get}
	kept := func() *Builder {
		b := idle().Wait(breakdown.StateSelect, 10*ms, 0.9, connect...)
		return b.Counter(series.TCPOpens, "dir=out", 0)
	}
	Expect(t, downstream.Churn, kept())
	b := kept()
	found := Expect(t, downstream.Churn, b.Dials("shop:80", int64(0.9*b.Requests())), "http-client-churn at cache.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Title, "opens 0.9 connections per request") {
		t.Errorf("%q", found[0].Title)
	}
}

// TestChurnToAWaitingEnd: what the far end spends its time on other than CPU, connections do not change, so that
// the wait for its response does not follow from them.
func TestChurnToAWaitingEnd(t *testing.T) {
	b := New(8, 40*ms).CPU(2, 1.95, 0.1, 0.1, 0).Peer("ruler", "7811", 0.1).Wait(breakdown.StateRunning, 100*us, 1).
		Wait(breakdown.StateRunnable, 200*us, 1).Wait(breakdown.StateSelect, 100*us, 0.3, "runtime.selectgo",
		"net/http.(*Transport).getConn", "net/http.(*Client).Do", get)
	get1(b, 39*ms, 1, get).Sample(5*time.Second, "net.(*netFD).connect", "net/http.(*Transport).dialConn").Sample(5*time.Second, get)
	b.Counter(series.TCPOpens, "dir=out", 0.3*b.Requests())
	calls := []diagnose.Analyzer{downstream.Names, database.Stampede, downstream.Churn, downstream.Timeout, downstream.Slow}
	ExpectFirst(t, calls, b, "downstream-slow")
}

// TestChurnOfACache: a memcached client calls each server in a goroutine of its own, and opens the connection there.
func TestChurnOfACache(t *testing.T) {
	const client = "github.com/bradfitz/gomemcache/memcache.(*Client)"
	const entry = client + ".GetMulti.func2"
	asks := func(dials float64) *Builder {
		link := func(state breakdown.State, times float64, frames ...string) []breakdown.Link {
			stack := Stack(append(frames, client+".getFromAddr", entry)...)
			return []breakdown.Link{{Goroutine: entry, State: state, Times: times, Stack: stack}}
		}
		b := idle().Wait(breakdown.StateChannel, 10*ms, 1, "runtime.chanrecv1", client+".GetMulti", get).
			Waker("runtime.chansend1", entry).Spawned(1).
			Behind(breakdown.Chain{NS: int64(9 * ms), Links: link(breakdown.StateNetwork, 1, "net.(*conn).Read")},
				breakdown.Chain{NS: int64(ms), Links: link(breakdown.StateNetwork, dials, "net.(*netFD).connect", client+".dial")})
		b.Sample(3*time.Second, "net.(*netFD).connect", client+".dial", entry).Sample(6*time.Second, get)
		return b.Counter(series.TCPOpens, "dir=out", dials*b.Requests())
	}
	found := Expect(t, downstream.Churn, asks(0.4), "http-client-churn at cache.go:41")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "A client of memcache opens a connection per 2.5 requests") ||
		!strings.Contains(found[0].Remedy, "MaxIdleConns, 2 by default")) {
		t.Errorf("%s: %s", found[0].Title, found[0].Remedy)
	}
	Expect(t, downstream.Churn, asks(0.001)) // a few at the start
}

// TestChurnOverGRPC: a call that waits for its connection is churn where the connection
// was made for it, at the place that makes it; not where one that is kept is waited for.
func TestChurnOverGRPC(t *testing.T) {
	const ask, dial = "shop/gateway.(*gateway).forward@gateway.go:92", "shop/gateway.dial@gateway.go:27"
	pick := []string{"runtime.selectgo", "google.golang.org/grpc.(*pickerWrapper).pick", "google.golang.org/grpc.(*ClientConn).Invoke",
		"shop/pb.(*vaultClient).Find@vault_grpc.pb.go:40", ask}
	waits := func() *Builder { return idle().Wait(breakdown.StateSelect, 20*ms, 2.9, pick...) }
	opens := func(b *Builder, each float64) *Builder {
		return b.Counter(series.TCPOpens, "dir=out", each*b.Requests())
	}
	Expect(t, downstream.Churn, opens(waits(), 1), "http-client-churn at gateway.go:92")
	Expect(t, downstream.Churn, opens(waits(), 1).Sample(50*ms, "google.golang.org/grpc.NewClient", dial, ask),
		"http-client-churn at gateway.go:27")
	// Of several that make connections, the one whose calls wait the longest for them.
	const makes = "google.golang.org/grpc.NewClient"
	Expect(t, downstream.Churn, opens(waits(), 1).Sample(50*ms, makes, dial, "shop/cart.(*cart).empty@cart.go:8").
		Sample(10*ms, makes, "shop/gateway.(*gateway).forward@gateway.go:88"), "http-client-churn at gateway.go:88")
	Expect(t, downstream.Churn, opens(waits(), 0.01))
}

// A process that accepts the connections that it opens pays for both ends; those that the load dials are not
// from within.
func TestChurnToItself(t *testing.T) {
	const ask, dial = "shop/gateway.(*gateway).forward@gateway.go:92", "shop/gateway.dial@gateway.go:27"
	gain := func(in, dials float64) float64 {
		b := New(16, 8*ms).CPU(2, 1.9, 1.6, 0.2, 0).Wait(breakdown.StateRunning, ms, 1).
			Wait(breakdown.StateSelect, 6*ms, 1, "runtime.selectgo", "google.golang.org/grpc.(*pickerWrapper).pick",
				"google.golang.org/grpc.(*ClientConn).Invoke", "shop/pb.(*vaultClient).Find@vault_grpc.pb.go:40", ask)
		b.Sample(3*time.Second, "google.golang.org/grpc.NewClient", dial, ask).Sample(6*time.Second, ask)
		b.Counter(series.TCPOpens, "dir=out", b.Requests()).Counter(series.TCPOpens, "dir=in", in*b.Requests()).
			Counter(series.LoadDials, "", dials*b.Requests())
		found := Expect(t, downstream.Churn, b, "http-client-churn")
		if len(found) != 1 {
			t.FailNow()
		}
		return found[0].GainCeiling
	}
	if apart, load, itself := gain(0, 0), gain(1, 1), gain(1, 0); load != apart || !(itself > 1.3*apart) {
		t.Errorf("worth %.2fx, where the load dials as often %.2fx, to itself %.2fx", apart, load, itself)
	}
}

// TestStall: a call without a deadline that makes the tail is named; one with a deadline,
// one that takes no part in the tail, and one that is always slow, are not.
func TestStall(t *testing.T) {
	const calls = 1000
	asks := func(b *Builder, kind operation.Kind, each time.Duration) *Builder {
		return b.Asks(kind, "GET host/lines/{}", calls, each, 0, Caller(1, each, "net/http.(*Transport).roundTrip",
			"net/http.(*Client).Do", get))
	}
	load := func() *Builder {
		b := New(64, 4*ms).CPU(2, 0.2, 0.1, 0.1, 0)
		return b.Rate(100).Late(1200*ms, 0.03)
	}
	mean := time.Duration(0.97*4e6 + 0.03*1200e6)
	per := func(b *Builder) time.Duration { return time.Duration(float64(mean) * b.Requests() / calls) }
	stalled := get1(load(), 2*ms, 1, get)
	Expect(t, downstream.Timeout, asks(stalled, operation.HTTP, per(stalled)).Undated(1200*ms), "missing-timeout at cache.go:41")
	Expect(t, downstream.Slow, get1(asks(load(), operation.HTTP, per(stalled)).Undated(1200*ms), mean, 1, get))
	// On saturated CPUs calls queue for these, and nothing hangs that takes less than a second.
	full := func(longest time.Duration) *Builder {
		b := get1(New(64, 4*ms).CPU(2, 2, 0.5, 0.1, 0).Rate(100).Late(1200*ms, 0.03).Wait(breakdown.StateRunnable, ms, 1), 2*ms, 1, get)
		return asks(b, operation.HTTP, per(b)).Undated(longest)
	}
	Expect(t, downstream.Timeout, full(1200*ms), "missing-timeout at cache.go:41")
	ExpectUnjudged(t, downstream.Timeout, full(700*ms), "missing-timeout")
	untraced := asks(load(), operation.HTTP, per(stalled)).Undated(1200 * ms)
	Expect(t, downstream.Timeout, untraced, "missing-timeout at cache.go:41")
	// The same calls by goroutines that no request waits for.
	sent := load().Wait(breakdown.StateRunnable, 2*ms, 1, get)
	ExpectUnjudged(t, downstream.Timeout, asks(sent, operation.HTTP, per(stalled)).Undated(1200*ms), "missing-timeout")
	dated := asks(load(), operation.HTTP, per(stalled))
	ExpectUnjudged(t, downstream.Timeout, dated, "missing-timeout") // no goroutine profile, and nothing without a deadline
	ExpectUnjudged(t, downstream.Timeout, asks(load(), operation.Query, per(stalled)).Undated(1200*ms), "missing-timeout")
	ExpectUnjudged(t, downstream.Timeout, asks(load(), operation.HTTP, 3*ms).Undated(10*ms), "missing-timeout")
	// Few requests make the call, which always takes as long: no deadline cuts any off.
	few := load().Asks(operation.HTTP, "GET host/prices", 12, 3300*ms, 0, Caller(1, 3300*ms, "net/http.(*Client).Do", get))
	ExpectUnjudged(t, downstream.Timeout, few.Undated(3400*ms), "missing-timeout")
	slow := New(64, 40*ms).Rate(100)
	ExpectUnjudged(t, downstream.Timeout, asks(slow, operation.HTTP, per(slow)).Undated(1200*ms), "missing-timeout")
}

// TestKeptRate: nothing limits an open loop at a rate that the service sustains and whose tail
// nobody notices; a closed one of the same latency is limited.
func TestKeptRate(t *testing.T) {
	service := func() *Builder {
		return New(64, 3500*us).CPU(2, 0.2, 0.1, 0.1, 0).Wait(breakdown.StateRunning, 300*us, 3)
	}
	Expect(t, downstream.Slow, get1(service(), 2900*us, 1, get), "downstream-slow at cache.go:41")
	Expect(t, downstream.Slow, get1(service().Rate(120), 2900*us, 1, get))
	Expect(t, downstream.Slow, get1(service().Rate(500).Achieved(400), 2900*us, 1, get), "downstream-slow at cache.go:41")
	Expect(t, downstream.Slow, get1(New(64, 40*ms).Rate(120).CPU(2, 0.2, 0.1, 0.1, 0), 34*ms, 1, get), "downstream-slow at cache.go:41")
}

// TestCallerThatATraceCut: where the service's own function is not among the frames of a client's stack that the trace kept, the client's
// outermost known function is the place, and not that of the goroutine which reads the connection.
func TestCallerThatATraceCut(t *testing.T) {
	const handler, reader = "net/http.(*timeoutHandler).ServeHTTP.func1", "net/http.(*persistConn).readLoop"
	call := breakdown.Chain{Links: []breakdown.Link{
		{Goroutine: handler, State: breakdown.StateSelect, Cut: true, Stack: Stack("runtime.selectgo", "net/http.(*persistConn).roundTrip",
			"net/http.(*Client).Do", "github.com/aws/aws-sdk-go-v2/aws.(*Client).Do@/src/vendor/aws/client.go:69")},
		{Goroutine: reader, State: breakdown.StateNetwork, Stack: Stack("internal/poll.(*FD).Read@fd_unix.go:165", reader)},
	}}
	Expect(t, downstream.Slow, idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", "net/http.(*timeoutHandler).ServeHTTP").
		Waker(handler).Spawned(1).Behind(call), "downstream-slow at client.go:69")
}
