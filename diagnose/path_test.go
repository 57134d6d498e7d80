package diagnose_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

// traced is the critical path of a fixture of package anatomy, in a run.
func traced(t *testing.T, name string) *Builder {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../anatomy/testdata", "path-"+name+".trace"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := anatomy.Analyze([]anatomy.Input{{Trace: bytes.NewReader(data)}}, anatomy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return New(64, 40*time.Millisecond).Wait(breakdown.StateRunning, a.MeanNS, 1).Path(a.Path.Nodes, a.Serial...)
}

// TestPathInWords: the ledger says for each service where its requests' time goes,
// down to the function that works, and that a lock's holder only waits for a CPU.
func TestPathInWords(t *testing.T) {
	for name, want := range map[string][]string{
		"store":  {"waiting for one goroutine, main.(*Store).loop, busy ", "running main.(*Store).checkConsistency (main.go:66: sort.Slice "},
		"closes": {"waiting for one goroutine, main.(*Store).loop, busy ", "running main.(*Store).checkConsistency (main.go:66: sort.Slice "},
		"fanout": {"waiting in main.fanOut (main.go:90) for goroutines it started (main.fanOut.func1): 99 % waiting for a timer in main.slow (main.go:94)"},
		"lock":   {"waiting for the lock in main.(*Ledger).Add (main.go:104), held by another request: 54 % waiting for a CPU"},
	} {
		rec, a := traced(t, name).Open(t)
		found, err := diagnose.Run(rec, a, nil)
		if err != nil {
			t.Fatal(err)
		}
		lines := found.Ledger.Path
		if len(lines) == 0 {
			t.Fatalf("%s: no path, because %q", name, found.Ledger.PathWhy)
		}
		sum := 0.0
		for i, l := range lines {
			if sum += l.Share; i > 0 && i < len(lines)-1 && l.Share > lines[i-1].Share {
				t.Errorf("%s: %v comes after %v", name, l, lines[i-1])
			}
		}
		if math.Abs(sum-1) > 1e-6 || len(lines) > 8 {
			t.Errorf("%s: %d lines sum to %v", name, len(lines), sum)
		}
		for _, words := range want {
			if !strings.Contains(lines[0].Text, words) {
				t.Errorf("%s: %q does not say %q", name, lines[0].Text, words)
			}
		}
	}
}

// TestStopsInWords: a line says who stops the world, and that is not the collector.
func TestStopsInWords(t *testing.T) {
	rec, a := traced(t, "stops").Open(t)
	found, err := diagnose.Run(rec, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range found.Ledger.Path {
		lines = append(lines, l.Text)
	}
	for _, want := range []string{"stopped while main.dump (main.go:205) stops the world",
		"stopped while main.(*Meter).read (main.go:202) stops the world"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line says %q: %q", want, lines)
		}
	}
	// Where a trace has no stack, who did is unknown.
	rec, a = New(8, 10*time.Millisecond).Wait(breakdown.StateRunning, 9*time.Millisecond, 1).
		Path([]breakdown.PathNode{{Kind: breakdown.PathState, State: breakdown.StateStoppedByCall, Share: 0.9}}).Open(t)
	if found, err = diagnose.Run(rec, a, nil); err != nil || len(found.Ledger.Path) == 0 ||
		found.Ledger.Path[0].Text != "stopped while the program stops the world" {
		t.Errorf("%+v, %v", found.Ledger, err)
	}
}

// TestPathOfCalls: who waits for a client's reader waits in a call of the service's own, which is
// named; how long the reader waits for the answer adds nothing to that.
func TestPathOfCalls(t *testing.T) {
	const reader, ms = "net/http.(*persistConn).readLoop", time.Millisecond
	node := func(share float64, nodes ...breakdown.PathNode) breakdown.PathNode {
		return breakdown.PathNode{Kind: breakdown.PathGoroutine, State: breakdown.StateSelect, Function: reader, Share: share, Nodes: nodes,
			Site: "net/http.(*persistConn).roundTrip < shop/fx.(*Client).fetch client.go:12"}
	}
	state := func(state breakdown.State, share float64) breakdown.PathNode {
		return breakdown.PathNode{Kind: breakdown.PathState, State: state, Share: share, Site: reader,
			Stack: Stack("net.(*conn).Read", reader)}
	}
	waits := Stack("net.(*conn).Read", reader)
	chain := breakdown.Chain{Links: []breakdown.Link{{Goroutine: reader, State: breakdown.StateNetwork, Stack: waits}}}
	calls := func(b *Builder, at string) *Builder {
		return b.Wait(breakdown.StateSelect, 9*ms, 1, "runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do",
			"shop/fx.(*Client)."+at).Behind(chain)
	}
	rarely := func(b *Builder) *Builder {
		return b.Wait(breakdown.StateSelect, ms/10, 0.1, "runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do",
			"shop/fx.(*Client).ping@client.go:60").Behind(chain)
	}
	for _, c := range []struct {
		b    *Builder
		node breakdown.PathNode
		want string
	}{
		{rarely(calls(New(8, 10*ms), "fetch@client.go:12")),
			node(0.9, state(breakdown.StateNetwork, 0.8), state(breakdown.StateRunnable, 0.1)),
			"waiting for an HTTP call in fx.(*Client).fetch (client.go:12): 10 % waiting for a CPU"},
		{calls(calls(New(8, 10*ms), "fetch@client.go:12"), "send@client.go:40"), node(0.9, state(breakdown.StateNetwork, 0.9)),
			"waiting for an HTTP call in fx.(*Client).fetch (client.go:12) and 1 other function"},
		{New(8, 10*ms).Wait(breakdown.StateRunning, 9*ms, 1), node(0.9, state(breakdown.StateNetwork, 0.9)),
			"waiting for an HTTP call in fx.(*Client).fetch (client.go:12)"}, // its stack is below the anatomy's bound
		{New(8, 10*ms).Wait(breakdown.StateRunning, 9*ms, 1), breakdown.PathNode{Kind: breakdown.PathGoroutine,
			State: breakdown.StateSelect, Function: reader, Share: 0.9, Site: "net/http.(*persistConn).roundTrip"},
			"waiting for an HTTP call"}, // a proxy's
		{New(8, 10*ms).Wait(breakdown.StateSelect, 9*ms, 1, "runtime.selectgo", "net/http.(*persistConn).roundTrip",
			"shop/fx.(*Client).fetch@client.go:12", "net/http.send", "net/http.(*Client).Do",
			"shop/fx.(*Desk).rates@desk.go:7").Behind(chain),
			node(0.9), "waiting for an HTTP call in fx.(*Desk).rates (desk.go:7)"}, // through a RoundTripper of the service's
		{New(8, 10*ms).Wait(breakdown.StateSelect, 9*ms, 1, "runtime.selectgo", "net/http.(*persistConn).roundTrip",
			"net/http.(*Client).Do", "shop/fx.(*Client).fetch@client.go:12", "github.com/jackc/pgx/v5.BeginFunc",
			"shop/fx.(*Desk).book@desk.go:9").Behind(chain),
			node(0.9), "waiting for an HTTP call in fx.(*Client).fetch (client.go:12)"}, // within a transaction
		{calls(New(8, 10*ms), "fetch@client.go:12"), breakdown.PathNode{Kind: breakdown.PathRequest, State: breakdown.StateLock, Share: 0.9,
			Nodes: []breakdown.PathNode{node(0.8, state(breakdown.StateNetwork, 0.8))}},
			"waiting for the lock, held by another request: 80 % waiting for an HTTP call in fx.(*Client).fetch (client.go:12)"},
	} {
		rec, a := c.b.Path([]breakdown.PathNode{c.node}, breakdown.Serial{Goroutine: reader, Goroutines: 8, Requests: 100}).Open(t)
		found, err := diagnose.Run(rec, a, nil)
		if err != nil || len(found.Ledger.Path) == 0 {
			t.Fatalf("%v, %+v", err, found.Ledger)
		}
		if got := found.Ledger.Path[0]; got.Text != c.want {
			t.Errorf("%q, want %q", got.Text, c.want)
		}
	}
}

// TestPathOfCallsToItself: a gateway calls its own gRPC server. The request that answers is among those of the path, and the wait for it is
// not shown beside what it waits for.
func TestPathOfCallsToItself(t *testing.T) {
	const reader, ms = "google.golang.org/grpc/internal/transport.(*http2Client).reader", time.Millisecond
	nodes := []breakdown.PathNode{
		{Kind: breakdown.PathGoroutine, State: breakdown.StateSelect, Function: reader, Share: 0.5, Site: "google.golang.org/grpc.(*csAttempt).recvMsg"},
		{Kind: breakdown.PathState, State: breakdown.StateNetwork, Share: 0.4, Stack: Stack(Query()...)},
		{Kind: breakdown.PathState, State: breakdown.StateRunning, Share: 0.1},
	}
	path := func(answered int) []findings.LedgerPath {
		b := New(8, 10*ms).Wait(breakdown.StateSelect, 5*ms, 1, "runtime.selectgo", "google.golang.org/grpc.(*csAttempt).recvMsg",
			"google.golang.org/grpc.(*ClientConn).Invoke", List).Wait(breakdown.StateNetwork, 4*ms, 1, Query()...)
		b.Gauge(series.SocketsOutwards, "to=self", 1).Gauge(series.SocketsOutwards, "to=other", float64(1000-answered)/1000)
		rec, a := b.Path(nodes).Served("grpc", answered).Open(t)
		found, err := diagnose.Run(rec, a, nil)
		if err != nil || len(found.Ledger.Path) == 0 {
			t.Fatalf("%v, %+v", err, found.Ledger)
		}
		return found.Ledger.Path
	}
	own, other := path(1000), path(0)
	if len(own) != 2 || own[0].Share != 0.8 || !strings.Contains(own[0].Text, "the database") {
		t.Errorf("%+v", own)
	}
	if len(other) != 3 || other[0].Share != 0.5 {
		t.Errorf("%+v", other)
	}
}

// TestPathThroughAHandler: net/http.TimeoutHandler runs the handler in a goroutine of its own; what that waits for has lines of its own.
// Of goroutines of which a request starts several, one line says that it waits for them.
func TestPathThroughAHandler(t *testing.T) {
	const reader, handler, ms = "net/http.(*persistConn).readLoop", "net/http.(*timeoutHandler).ServeHTTP.func1", time.Millisecond
	fetch := Stack("runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", "shop/fx.(*Client).fetch@client.go:12")
	call := breakdown.Chain{NS: int64(5 * ms), Links: []breakdown.Link{{Goroutine: handler, State: breakdown.StateSelect, Stack: fetch},
		{Goroutine: reader, State: breakdown.StateNetwork, Stack: Stack("net.(*conn).Read", reader)}}}
	nodes := []breakdown.PathNode{{Kind: breakdown.PathGoroutine, State: breakdown.StateSelect, Function: handler, Share: 0.9,
		NS: int64(9 * ms), Site: "net/http.(*timeoutHandler).ServeHTTP", Nodes: []breakdown.PathNode{
			{Kind: breakdown.PathGoroutine, State: breakdown.StateSelect, Function: reader, Share: 0.5,
				Site: "net/http.(*persistConn).roundTrip < shop/fx.(*Client).fetch client.go:12"},
			{Kind: breakdown.PathState, State: breakdown.StateRunnable, Share: 0.3},
		}}, {Kind: breakdown.PathState, State: breakdown.StateRunnable, Share: 0.1, NS: int64(ms)}}
	// The caller of the longest call is not on its stack, which the trace cut.
	cut := slices.Clone(nodes)
	cut[0].Nodes = slices.Clone(cut[0].Nodes)
	cut[0].Nodes[0].Site = "net/http.(*persistConn).roundTrip"
	for started, want := range map[int][]string{
		-1: {"waiting for an HTTP call in fx.(*Client).fetch (client.go:12)", "waiting for a CPU",
			"everything else, each part below 3 %"},
		1000: {"waiting for an HTTP call in fx.(*Client).fetch (client.go:12)", "waiting for a CPU",
			"everything else, each part below 3 %"},
		3000: {"waiting for goroutines of http.(*timeoutHandler).ServeHTTP.func1: 50 % waiting for an HTTP call in fx.(*Client).fetch " +
			"(client.go:12), 30 % waiting for a CPU", "waiting for a CPU"},
	} {
		nodes := nodes
		if started < 0 {
			nodes, started = cut, 1000
		}
		rec, a := New(8, 10*ms).Wait(breakdown.StateSelect, 9*ms, 1, "runtime.selectgo", "net/http.(*timeoutHandler).ServeHTTP").
			Behind(call).Helper(handler, started, "net/http.(*timeoutHandler).ServeHTTP").Path(nodes).Open(t)
		found, err := diagnose.Run(rec, a, nil)
		if err != nil || found.Ledger == nil {
			t.Fatalf("%v, %+v", err, found)
		}
		var lines []string
		sum := 0.0
		for _, l := range found.Ledger.Path {
			lines, sum = append(lines, l.Text), sum+l.Share
		}
		if !slices.Equal(lines, want) || math.Abs(sum-1) > 1e-6 {
			t.Errorf("%d started: %q, together %v", started, lines, sum)
		}
	}
}

// TestPathToAWorker: a goroutine that the function which waits did not start is not told as its own.
func TestPathToAWorker(t *testing.T) {
	const ms = time.Millisecond
	node := breakdown.PathNode{Kind: breakdown.PathGoroutine, State: breakdown.StateChannel, Function: "shop/queue.run", Share: 1,
		Site: "shop/web.Show web.go:20"}
	b := func() *Builder {
		return New(8, 10*ms).Wait(breakdown.StateChannel, 9*ms, 1, "runtime.chanrecv1", handle)
	}
	for want, b := range map[string]*Builder{
		"waiting in web.Show (web.go:20) for goroutines of queue.run":           b(),
		"waiting in web.Show (web.go:20) for goroutines it started (queue.run)": b().Helper("shop/queue.run", 1000, handle),
	} {
		rec, a := b.Path([]breakdown.PathNode{node}).Open(t)
		if found, err := diagnose.Run(rec, a, nil); err != nil || found.Ledger == nil || found.Ledger.Path[0].Text != want {
			t.Errorf("%v, %+v; want %q", err, found.Ledger, want)
		}
	}
	// Each of two hundred that a dispatcher starts serves one request, and is gone.
	rec, a := b().Path([]breakdown.PathNode{node}, breakdown.Serial{Goroutine: "shop/queue.run", Goroutines: 200, Requests: 200,
		Utilization: 0.02}).Open(t)
	if found, err := diagnose.Run(rec, a, nil); err != nil || strings.Contains(found.Ledger.Path[0].Text, "busy") {
		t.Errorf("%v, %+v", err, found.Ledger)
	}
}

// TestPathMerges: two waits that read alike are one line.
func TestPathMerges(t *testing.T) {
	waits := func(share float64, function string) breakdown.PathNode {
		return breakdown.PathNode{Kind: breakdown.PathState, State: breakdown.StateNetwork, Share: share, NS: int64(1e7 * share),
			Site:  "shop/fx.(*Client).fetch client.go:12",
			Stack: Stack("internal/poll.(*FD)."+function, "shop/fx.(*Client).fetch@client.go:12")}
	}
	rec, a := New(8, 10*time.Millisecond).Wait(breakdown.StateRunning, 9*time.Millisecond, 1).
		Path([]breakdown.PathNode{waits(0.6, "Read"), waits(0.3, "Accept")}).Open(t)
	found, err := diagnose.Run(rec, a, nil)
	if err != nil || found.Ledger == nil {
		t.Fatalf("%v, %+v", err, found)
	}
	if len(found.Ledger.Path) != 1 || math.Abs(found.Ledger.Path[0].Share-0.9) > 1e-9 || found.Ledger.Path[0].NS != 9e6 {
		t.Errorf("%+v; want one line of 0.9", found.Ledger.Path)
	}
}

// TestPathForAnalyzers: a function's share of the path counts the functions below it
// once, and 0 means that it is not on the path.
func TestPathForAnalyzers(t *testing.T) {
	const loop, check = "main.(*Store).loop", "main.(*Store).checkConsistency"
	runWith(t, traced(t, "store"), func(p *diagnose.Pass) {
		x := p.Path()
		behind, ok := x.Behind(loop)
		work, part, works := waits.Worker(behind)
		if !ok || !works || work.Function != check || part < 0.9 || part > 1 {
			t.Errorf("behind the loop works %q for %v of its time", work.Function, part)
		}
		if all, below := share(x.Nodes(), loop), share(x.Nodes(), check); all < 0.85 || all > 1 || below > all || below < 0.9*all {
			t.Errorf("shares %v of the loop and %v below it", all, below)
		}
		if share(x.Nodes(), "main.spin") != 0 {
			t.Error("what nobody waits for is on the path")
		}
		if one, ok := x.Serial(loop); !ok || one.Goroutines != 1 {
			t.Errorf("the loop is no serial resource: %+v", one)
		}
	})
	runWith(t, New(64, 40*time.Millisecond).NoAnatomy(), func(p *diagnose.Pass) {
		if x := p.Path(); x.Nodes() != nil {
			t.Error("a path without a trace")
		}
	})
}

// TestNoPathSaysWhy: without a trace the ledger has the reason instead.
func TestNoPathSaysWhy(t *testing.T) {
	rec, a := New(64, 40*time.Millisecond).Busy(time.Second).NoAnatomy().Open(t)
	found, err := diagnose.Run(rec, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := found.Ledger; l == nil || len(l.Path) > 0 || l.PathWhy == "" {
		t.Errorf("ledger %+v", l)
	}
}

// share is the part of request time in which the path goes through a function, or through what it calls.
func share(nodes []breakdown.PathNode, function string) (sum float64) {
	for _, n := range nodes {
		if n.Function == function {
			sum += n.Share
			continue // what is below is part of it
		}
		sum += share(n.Nodes, function)
	}
	return sum
}
