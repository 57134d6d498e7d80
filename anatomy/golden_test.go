package anatomy_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/record/breakdown"
)

var update = flag.Bool("update", false, "write the golden files anew")

// render draws an anatomy as the golden files hold it.
func render(a *breakdown.Anatomy) string {
	var b strings.Builder
	fmt.Fprintf(&b, "requests %d, cut %d, merged %d, hijacked %d, coverage %.3f, spawned %.2f\n", a.Requests,
		a.Cut, a.Merged, a.Hijacked, a.Coverage, a.Spawned)
	fmt.Fprintf(&b, "served %+v\n", a.Served)
	fmt.Fprintf(&b, "markers %+v\ntraced %v, align %+v\np50 %v, p99 %v\n", a.Markers, a.Traced, a.Align, a.P50NS, a.P99NS)
	for _, w := range a.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	band := func(name string, parts []breakdown.Part) {
		fmt.Fprintf(&b, "\n%s\n", name)
		for _, p := range parts {
			fmt.Fprintf(&b, "%9d ns %5.1f %%  x%-5.2f %-14s %s", p.NS, 100*p.Share, p.Times, p.State, p.Site)
			if len(p.Waker) > 0 {
				fmt.Fprintf(&b, "  <- %s", p.Waker[len(p.Waker)-1].Function)
			}
			fmt.Fprintln(&b)
			for _, c := range p.Behind {
				fmt.Fprintf(&b, "%17d ns %5.1f %%  %s\n", c.NS, 100*c.Share, c)
			}
		}
	}
	band(fmt.Sprintf("all: %v", a.MeanNS), a.All)
	band(fmt.Sprintf("median: %v", a.MedianNS), a.Median)
	band(fmt.Sprintf("tail: %v", a.TailNS), a.Tail)
	fmt.Fprint(&b, "\npath\n")
	renderPath(&b, a.Path.Nodes, 1)
	for _, s := range a.Serial {
		fmt.Fprintf(&b, "serial: %+v\n", s)
	}
	for _, l := range a.Slowest {
		fmt.Fprintf(&b, "\nslow: goroutine %d of %s took %v, id %q\n", l.Goroutine, l.Server, l.Len(), l.ID)
		for _, s := range l.Segments {
			fmt.Fprintf(&b, "%9d ns %-14s %s", s.NS, s.State, s.Site)
			if len(s.Behind) > 0 {
				fmt.Fprintf(&b, "  <- %s", breakdown.Chain{Links: s.Behind})
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}

func renderPath(b *strings.Builder, nodes []breakdown.PathNode, depth int) {
	for _, n := range nodes {
		if n.Share < 0.001 {
			continue
		}
		fmt.Fprintf(b, "%*d ns %5.1f %%  %s %s %s:%d %s\n", 8+2*depth, n.NS, 100*n.Share, n.Kind, n.State, n.Function, n.Line, n.Site)
		renderPath(b, n.Nodes, depth+1)
	}
}

// TestGolden takes traces of several Go versions apart; testdata/server, testdata/servers
// and testdata/path made them, with 120 requests in each.
func TestGolden(t *testing.T) {
	traces, err := filepath.Glob("testdata/*.trace")
	if err != nil || len(traces) == 0 {
		t.Fatalf("no traces in testdata: %v", err)
	}
	for _, path := range traces {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var lines []breakdown.Timeline
			a, err := analyze(bytes.NewReader(data),
				anatomy.Options{MaxSlowest: 2, Each: func(l breakdown.Timeline) { lines = append(lines, l) }})
			if err != nil {
				t.Fatal(err)
			}
			checkShape(t, a, lines)
			if a.Requests != 120 || a.Cut != 0 || a.Coverage != 1 {
				t.Errorf("found %d requests of 120, %d cut, coverage %v", a.Requests, a.Cut, a.Coverage)
			}
			golden, got := strings.TrimSuffix(path, ".trace")+".golden", render(a)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs (-update writes it anew); got:\n%s", golden, got)
			}
		})
	}
}

// analyze takes the requests of one trace apart.
func analyze(r io.Reader, o anatomy.Options) (*breakdown.Anatomy, error) {
	return anatomy.Analyze([]anatomy.Input{{Trace: r}}, o)
}
