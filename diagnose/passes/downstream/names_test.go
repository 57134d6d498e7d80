package downstream_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/series"
)

// TestLookUpsWithinCalls: all share the whole of what the load's requests take, though the traces also hold those that they make of the
// service itself.
func TestLookUpsWithinCalls(t *testing.T) {
	const sent = 3200
	b := New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, -1).Wait(breakdown.StateRunning, 4*ms, 3).
		Wait(breakdown.StateSleep, 8*ms, 1, "time.Sleep", get).
		Wait(breakdown.StateSelect, 20*ms, 0.5, "runtime.selectgo", "google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader",
			"google.golang.org/grpc.(*ClientConn).Invoke", get).Served("net/http", sent).Served("grpc", sent).
		Gauge(series.SocketsOutwards, "to=self", 0.7).Gauge(series.SocketsOutwards, "to=other", 0)
	b.Wait(breakdown.StateNetwork, 2500*us, 1, "net.(*conn).Read", "net.dnsPacketRoundTrip", "net.(*Resolver).exchange", get)
	found := Expect(t, downstream.Names, b, "dns-per-request at cache.go:41")
	if len(found) == 1 && (found[0].Share < 0.15 || found[0].Share > 0.2) {
		t.Errorf("%.2f", found[0].Share)
	}
}

// TestLookUpsOfSomeConnections: every request waits for a connection, and one in five for a name.
func TestLookUpsOfSomeConnections(t *testing.T) {
	lookup := breakdown.Chain{NS: int64(8 * ms), Links: []breakdown.Link{
		{Goroutine: "net/http.(*Transport).startDialConnForLocked.func1", State: breakdown.StateSelect, Times: 0.2},
		{Goroutine: "net.(*Resolver).goLookupIPCNAMEOrder.func3.1", State: breakdown.StateNetwork, Times: 0.2,
			Stack: Stack("net.(*conn).Read", "net.dnsPacketRoundTrip", "net.(*Resolver).exchange")}}}
	b := idle().Wait(breakdown.StateSelect, 20*ms, 1, "runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", get).
		Behind(lookup)
	found := Expect(t, downstream.Names, b, "dns-per-request at cache.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Evidence[0].Text, "(a wait per 5 requests)") {
		t.Error(found[0].Evidence[0].Text)
	}
}
