package anatomy_test

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/anatomy/bands"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// checkPath asserts that a path is a partition: at each node what lies below adds
// up to no more than the node, and the first level to the mean request.
func checkPath(t *testing.T, a *breakdown.Anatomy) {
	t.Helper()
	if a.Path == nil {
		t.Fatal("no path")
	}
	nodes := 0
	var check func(n breakdown.PathNode) int64
	check = func(n breakdown.PathNode) int64 {
		nodes++
		var below int64
		for _, c := range n.Nodes {
			below += check(c)
		}
		if n.NS < 0 || below > n.NS {
			t.Errorf("below %s %s %s of %d ns lie %d", n.Kind, n.State, n.Function, n.NS, below)
		}
		return n.NS
	}
	sum, share := int64(0), 0.0
	for _, n := range a.Path.Nodes {
		sum, share = sum+check(n), share+n.Share
	}
	if sum != int64(a.MeanNS) || a.Path.NS != sum || math.Abs(share-1) > 1e-6 && sum > 0 {
		t.Errorf("the path adds up to %d ns and %v, the mean request to %d", sum, share, a.MeanNS)
	}
	if nodes > 2*256 {
		t.Errorf("the path has %d nodes", nodes)
	}
}

// find returns the share of request time of the nodes that a way leads to: each step must
// occur in a node's kind, state and function, and nodes in between are skipped.
func find(nodes []breakdown.PathNode, way ...string) (share float64) {
	for _, n := range nodes {
		rest := way
		if strings.Contains(string(n.Kind)+" "+string(n.State)+" "+n.Function, way[0]) {
			if rest = way[1:]; len(rest) == 0 {
				share += n.Share
				continue
			}
		}
		share += find(n.Nodes, rest...)
	}
	return share
}

// TestPath follows requests to the work that they wait for. The functions in
// testdata/path say where their time goes.
func TestPath(t *testing.T) {
	const loop = "goroutine  main.(*Store).loop"
	for _, test := range []struct {
		name  string
		way   []string
		least float64
	}{
		{"store", []string{loop, "running", "work  main.(*Store).checkConsistency", "work  sort.Slice"}, 0.6},
		{"closes", []string{loop, "running", "work  main.(*Store).checkConsistency"}, 0.6},
		{"closes", []string{loop, "gc-assist"}, 0.01},
		{"fanout", []string{"goroutine  main.fanOut.func1", "sleep main.slow"}, 0.95},
		// The holder of the lock does nothing but wait for a CPU: that is the story.
		{"lock", []string{"request lock main.(*Ledger).Add", "runnable"}, 0.5},
		{"stops", []string{"state stopped-by-call main.(*Meter).read"}, 0.05},
		{"stops", []string{"state stopped-by-call main.dump"}, 0.05},
		{"stops", []string{"request lock main.(*Meter).read", "stopped-by-call main.(*Meter).read"}, 0.01},
	} {
		a := recorded(t, test.name)
		if share := find(a.Path.Nodes, test.way...); share < test.least {
			t.Errorf("%s: %v has %.2f of the requests' time, want %.2f", test.name, test.way, share, test.least)
		}
	}
	if share := find(recorded(t, "fanout").Path.Nodes, "main.fast"); share > 0.02 {
		t.Errorf("the fast legs have %.2f of the requests' time; the slow one decides", share)
	}
}

// TestPathsAddUp: whatever the trace, and wherever it breaks off, each instant of
// a request is on the path once.
func TestPathsAddUp(t *testing.T) {
	traces, err := filepath.Glob("testdata/*.trace")
	if err != nil || len(traces) == 0 {
		t.Fatalf("no traces in testdata: %v", err)
	}
	for _, path := range traces {
		data := readFixture(t, filepath.Base(path))
		for _, part := range []int{len(data), len(data) / 2, len(data) / 4} {
			a, err := analyze(bytes.NewReader(data[:part]), anatomy.Options{})
			if err != nil {
				continue // nothing of it could be read
			}
			checkPath(t, a)
		}
	}
}

// TestPathOfFewRequests: a wait that the trace's end cuts leads to the goroutine that
// ended all other waits at that place; where no request was served, the path says why it
// is empty.
func TestPathOfFewRequests(t *testing.T) {
	data := readFixture(t, "path-store.trace")
	a, err := analyze(bytes.NewReader(data), anatomy.Options{MaxEvents: 900})
	if err != nil {
		t.Fatal(err)
	}
	checkPath(t, a)
	if a.Path.Partial < 7 || a.Requests > 19 {
		t.Fatalf("%d whole requests and %d partial ones, want few whole and one for each connection", a.Requests, a.Path.Partial)
	}
	if share := find(a.Path.Nodes, "goroutine  main.(*Store).loop"); share < 0.5 {
		t.Errorf("behind the loop are %.2f of few requests' time", share)
	}
	if a, err = analyze(bytes.NewReader(data), anatomy.Options{MaxEvents: 20}); err != nil ||
		a.Path.Why == "" || len(a.Path.Nodes) > 0 {
		t.Errorf("without a request: %+v, %v", a.Path, err)
	}
}

// TestPathFromProfile: without samples in the trace, the run's CPU profile says what a
// goroutine runs, and is asked for once.
func TestPathFromProfile(t *testing.T) {
	asked := 0
	profile := func() []bands.Ran {
		asked++
		frame := func(f string) code.Frame { return code.Frame{Function: f, File: "main.go", Line: 1} }
		return []bands.Ran{
			{Stack: []code.Frame{frame("main.(*Store).find"), frame("main.worker")}, Value: 75},
			{Stack: []code.Frame{frame("main.other"), frame("main.worker")}, Value: 25},
			{Stack: []code.Frame{frame("main.background"), frame("main.rebuild")}, Value: 500},
		}
	}
	a, err := analyze(bytes.NewReader(readFixture(t, "go1.26.trace")), anatomy.Options{CPU: profile})
	if err != nil {
		t.Fatal(err)
	}
	checkPath(t, a)
	all := find(a.Path.Nodes, "goroutine  main.worker", "running")
	if share := find(a.Path.Nodes, "goroutine  main.worker", "running", "main.(*Store).find"); asked != 1 ||
		all == 0 || math.Abs(share-0.75*all) > 1e-6 {
		t.Errorf("asked %d times; %v of the worker's %v are shown", asked, share, all)
	}
	if find(a.Path.Nodes, "main.background") > 0 {
		t.Error("what nobody waits for is on the path")
	}
}

// TestPathOfRequestsUnderWay: in a trace that is shorter than a request, most requests
// wait when it begins or when it ends. What they wait for is known all the same: their
// stacks say how they wait, and the waits of others in the same function say who ends
// them.
func TestPathOfRequestsUnderWay(t *testing.T) {
	a, err := analyze(bytes.NewReader(readFixture(t, "path/midway.trace")), anatomy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkPath(t, a)
	if a.Path.Partial < 8 {
		t.Errorf("%d whole requests, %d partial", a.Requests, a.Path.Partial)
	}
	if share := find(a.Path.Nodes, "goroutine  main.(*Store).loop"); share < 0.95 {
		t.Errorf("behind the loop are %.2f of the requests' time", share)
	}
}
