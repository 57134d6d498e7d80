package host_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/host"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

// late is an open loop whose mean latency is far above its median, as if a few
// requests were very late.
func late() *Builder {
	return New(64, 20*ms).Rate(200).CPU(2, 0.4, 0.2, 0.1, -1).Late(time.Second, 0.2)
}

func TestAccept(t *testing.T) {
	listen := series.Labels("listen", "127.0.0.1:80")
	full := func(overflows, queue float64) *Builder {
		return late().Counter(series.NetListenOverflows, "", overflows).Gauge(series.SocketsAcceptQueue, listen,
			queue).Gauge(series.SocketsBacklog, listen, 128)
	}
	found := Expect(t, host.Accept, full(400, 129), "accept-overflow")
	if len(found) == 1 && found[0].Where.Detail != "listener 127.0.0.1:80" {
		t.Errorf("the listener is %q", found[0].Where.Detail)
	}
	Expect(t, host.Accept, full(400, 3)) // another program's listener
	Expect(t, host.Accept, full(2, 129))
	found = Expect(t, host.Accept, full(400, 129).Without(series.SocketsAcceptQueue), "accept-overflow")
	if len(found) == 1 && found[0].Confidence == findings.High {
		t.Error("it is sure without having seen the queue")
	}
	closed := New(60, 20*ms).CPU(2, 0.4, 0.2, 0.1, -1).Counter(series.NetListenOverflows, "", 400)
	Expect(t, host.Accept, closed.Gauge(series.LoadConnections, "", 20), "accept-overflow")
	// Six connections of ten streams are all open.
	streams := New(60, 20*ms).Streams(10).CPU(2, 0.4, 0.2, 0.1, -1).Counter(series.NetListenOverflows, "", 400)
	if found := Expect(t, host.Accept, streams.Gauge(series.LoadConnections, "", 6), "accept-overflow"); len(found) == 1 &&
		found[0].Share > 0.2 { // what lies above the median
		t.Errorf("%.2f of request time is lost to connections that are open", found[0].Share)
	}
	ExpectUnjudged(t, host.Accept, Healthy(), "accept-overflow")
}

func TestPorts(t *testing.T) {
	waiting := func(n float64) *Builder {
		return late().Gauge(series.SocketsTimeWaitPeer, "", n).Gauge(series.SocketsPorts, "", 28232)
	}
	Expect(t, host.Ports, waiting(28000).Counter(series.LoadErrors, "kind=status", 900), "port-exhaustion")
	found := Expect(t, host.Ports, waiting(27000), "port-exhaustion")
	if len(found) == 1 && found[0].Confidence != findings.Low {
		t.Error("it is sure although nothing fails")
	}
	Expect(t, host.Ports, waiting(4000))
	short := func(refused float64) *Builder { // too short to be sampled
		return waiting(0).Counter(series.LoadErrors, "kind=status", 900).Gauge(series.NetTCPTimeWait, "", 28232).
			Counter(series.TCPConnectFails, "", 900).Counter(series.NetAttemptFails, "", refused)
	}
	found = Expect(t, host.Ports, short(0), "port-exhaustion")
	if len(found) == 1 && strings.Contains(found[0].Title+found[0].Evidence[0].Text, "one address") {
		t.Errorf("the namespace's connections read as one address's: %q, %q", found[0].Title, found[0].Evidence[0].Text)
	}
	Expect(t, host.Ports, short(900)) // the peer refuses
	ExpectUnjudged(t, host.Ports, late(), "port-exhaustion")
}

func TestLoss(t *testing.T) {
	sent := func(again float64) *Builder {
		return late().Counter(series.SocketsSegments, "", 20000).Counter(series.SocketsRetransmits, "", again).
			Counter(series.NetOutSegments, "", 60000).Counter(series.NetRetransmits, "", 2000).Counter(series.NetSynRetransmits, "", 2000)
	}
	peer := sent(600).Counter(series.TCPRetransmits, "", 640).Counter(series.TCPRetransmitBy, series.Labels("remote", "10.0.3.7:80"), 500)
	found := Expect(t, host.Loss, peer, "packet-loss")
	if len(found) == 1 && found[0].Where.Detail != "connections of 10.0.3.7:80" {
		t.Errorf("the peer is %q", found[0].Where.Detail)
	}
	Expect(t, host.Loss, sent(20))
	prompt := series.Labels("q", "max")
	Expect(t, host.Loss, sent(600).Gauge(series.LoadLatency, prompt, 30e6)) // sent again in vain
	short := sent(600).Counter(series.SocketsSegments, "", 900).Counter(series.NetOutSegments, "", 2e5)
	Expect(t, host.Loss, short.Counter(series.TCPOpens, series.Labels("dir", "in"), 2000)) // most segments were not sampled
	// Busy CPUs delay acknowledgements, and the receiver has both copies.
	twice := func(n float64) *Builder {
		return sent(600).Counter(series.NetRetransmits, "", 3000).Counter(series.NetDuplicates, "", n)
	}
	Expect(t, host.Loss, twice(900))
	Expect(t, host.Loss, twice(100), "packet-loss")
	// Whoever finds an accept queue full sends again, and no path lost that.
	Expect(t, host.Loss, sent(600).Counter(series.NetListenOverflows, "", 900))
	Expect(t, host.Loss, sent(600).Counter(series.NetListenOverflows, "", 50), "packet-loss")
	// the namespace's are SYNs that a listener refused
	Expect(t, host.Loss, sent(0))
	Expect(t, host.Loss, late().Counter(series.NetOutSegments, "", 60000).Counter(series.NetRetransmits, "", 2000), "packet-loss")
	ExpectUnjudged(t, host.Loss, late(), "packet-loss")
}

// It is hard to provoke on loopback, so this is its only test.
func TestSoftnet(t *testing.T) {
	packets := func(dropped, squeezed float64) *Builder {
		return late().Counter(series.SoftnetProcessed, "", 1e6).Counter(series.SoftnetDropped, "", dropped).
			Counter(series.SoftnetSqueezed, "", squeezed)
	}
	Expect(t, host.Softnet, packets(4000, 0), "softnet-drop")
	found := Expect(t, host.Softnet, packets(0, 9000), "softnet-drop")
	if len(found) == 1 && found[0].Confidence != findings.Low {
		t.Error("packets that are put off are no loss")
	}
	Expect(t, host.Softnet, packets(3, 100))
	ExpectUnjudged(t, host.Softnet, late(), "softnet-drop")
}

func TestMemory(t *testing.T) {
	faults := func(n float64) *Builder {
		return New(8, 8*ms).CPU(2, 0.6, 0.5, 0.05, -1).Counter(series.ProcessMajorFaults, "", n).
			Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateRunnable, 5*ms, 3)
	}
	full := func(b *Builder) *Builder {
		return b.Gauge(series.CgroupMemory, "", 50e6).Gauge(series.CgroupMemoryLimit, "", 50e6).Counter(series.CgroupMemoryMaxes, "", 9000)
	}
	Expect(t, host.Memory, full(faults(1.7e5)), "memory-pressure")
	Expect(t, host.Memory, full(faults(1.7e5)).NoAnatomy(), "memory-pressure")
	Expect(t, host.Memory, full(faults(20)))
	found := Expect(t, host.Memory, faults(1.7e5), "memory-pressure") // pages that are read for the first time
	if len(found) == 1 && found[0].Confidence != findings.Low {
		t.Error("faults alone are no pressure")
	}
	found = Expect(t, host.Memory, faults(1.7e5).Counter(series.PressureMemory, "", 4e8), "memory-pressure")
	if len(found) == 1 && found[0].Confidence != findings.Medium {
		t.Errorf("stalls make it %s", found[0].Confidence)
	}
	ExpectUnjudged(t, host.Memory, Healthy(), "memory-pressure")
}

func TestStability(t *testing.T) {
	Expect(t, host.Stability, Healthy())
	Expect(t, host.Stability, Idle())
	found := Expect(t, host.Stability, New(64, 4*ms).CPU(2, 1.9, 0.3, 0.1, 0.1), "unstable-host")
	if len(found) == 1 && found[0].Confidence != findings.Low {
		t.Error("a noisy host is no sickness of the service")
	}
	found = Expect(t, host.Stability, New(64, 4*ms).CPU(4, 3.9, 0.3, 0.1, 1.2), "unstable-host")
	if len(found) == 1 && !strings.Contains(found[0].Evidence[0].Text, "the database and other programs that the service calls (1.2)") {
		t.Errorf("who used the CPUs is %q", found[0].Evidence[0].Text)
	}
	Expect(t, host.Stability, Idle().Counter(series.HostSteal, "", 2e9), "unstable-host")
	ExpectUnjudged(t, host.Stability, New(64, 4*ms), "unstable-host")
}

// A service that the target calls on the same host is no foreign program.
func TestStabilityOfOneThatCallsOthers(t *testing.T) {
	calls := New(64, 4*ms).CPU(2, 1.9, 0.3, 0.1, 0.1).Wait(breakdown.StateNetwork, 2*ms, 1,
		"net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", "shop/quote.Ask@quote.go:12")
	Expect(t, host.Stability, calls)
	Expect(t, host.Stability, calls.Counter(series.HostSteal, "", 2e9), "unstable-host")
	// What it calls was seen, and uses little: the rest of the CPUs is others'.
	seen := New(64, 4*ms).CPU(2, 1.9, 0.3, 0.1, 0.1).Peer("quotes", "9001", 0.05).Wait(breakdown.StateNetwork, 2*ms, 1,
		"net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", "shop/quote.Ask@quote.go:12")
	Expect(t, host.Stability, seen, "unstable-host")
}

// Nor is a database whose CPU is not measured; beside one whose CPU is known, a foreign program is.
func TestStabilityBesideMySQL(t *testing.T) {
	asks := func(database float64) *Builder {
		return New(64, 4*ms).CPU(2, 1.9, 0.3, 0.1, database).Wait(breakdown.StateNetwork, 2*ms, 1, "internal/poll.runtime_pollWait",
			"net.(*conn).Read", "github.com/go-sql-driver/mysql.(*mysqlConn).readPacket", "database/sql.(*DB).queryDC",
			"shop/store.Get@get.go:12")
	}
	Expect(t, host.Stability, asks(-1))
	Expect(t, host.Stability, asks(0.1), "unstable-host")
}

// A program at the other end of the service's connections is none that disturbs the host, without a trace either;
// what is left beside it is.
func TestStabilityBesideAPeer(t *testing.T) {
	busy := func() *Builder { return New(64, 4*ms).CPU(2, 1.9, 0.3, 0.1, 0.1) }
	Expect(t, host.Stability, busy().Peer("backend", "9001", 1.3))
	Expect(t, host.Stability, busy().Peer("backend", "9001", 0.6), "unstable-host")
	Expect(t, host.Stability, busy().Peer("postgres", "5432", 1.3), "unstable-host") // it is the database, and counted
	Expect(t, host.Stability, busy().Peer("postgrest", "3000", 1.3))                 // which asks the database for the service
	Expect(t, host.Stability, New(64, 4*ms).CPU(2, 1.9, 0.3, 0.1, -1).Peer("postgres", "5432", 1.4))
}

// A goroutine that waits at a lock or a channel for one that syncs waits for the disk.
func TestDiskBehind(t *testing.T) {
	wal := "shop/wal.(*Log).Append@wal.go:30"
	idle := func() *Builder { return New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, ms, 3) }
	behind := func(frames ...string) breakdown.Chain {
		return breakdown.Chain{Links: []breakdown.Link{{
			State: breakdown.StateSyscall, Request: true, Stack: append(Stack(frames...), Serving()...),
		}}}
	}
	lock := idle().Wait(breakdown.StateLock, 30*ms, 1, "sync.(*Mutex).Lock", "shop/wal.(*Log).Append@wal.go:28")
	Expect(t, host.Disk, lock.Behind(behind("syscall.Fsync", "os.(*File).Sync", wal)), "disk-sync at wal.go:30")
	lock = idle().Wait(breakdown.StateLock, 30*ms, 1, "sync.(*Mutex).Lock", "shop/wal.(*Log).Append@wal.go:28")
	Expect(t, host.Disk, lock.Behind(behind("syscall.write", "os.(*File).Write", "log/slog.Info", wal)))
}

// A rename waits for the journal, and counts where its type syncs; that of a type that never syncs does not.
func TestDiskRename(t *testing.T) {
	queue := func(calls ...breakdown.Chain) *Builder {
		return New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chansend1", "shop/queue.(*Queue).Put@queue.go:20").Behind(calls...)
	}
	call := func(ns time.Duration, frames ...string) breakdown.Chain {
		return breakdown.Chain{NS: int64(ns), Links: []breakdown.Link{{Goroutine: "shop/queue.(*Queue).loop",
			State: breakdown.StateSyscall, Stack: Stack(append(frames, "shop/queue.(*Queue).loop@queue.go:60")...)}}}
	}
	rename := []string{"syscall.Rename", "os.rename", "os.Rename", "shop/queue.(*Queue).save@queue.go:90"}
	fsync := []string{"syscall.Fsync", "os.(*File).Sync", "shop/queue.(*Queue).sync@queue.go:80"}
	found := Expect(t, host.Disk, queue(call(22*ms, rename...), call(7*ms, fsync...)), "disk-sync at queue.go:80")
	if len(found) == 1 && found[0].Share < 0.7 {
		t.Errorf("share %.2f: the renames are not counted", found[0].Share)
	}
	Expect(t, host.Disk, queue(call(29*ms, rename...)))
}
