//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/redline-go/redline/bench/load/generator"
	"github.com/redline-go/redline/bench/load/serve"
	"github.com/redline-go/redline/stat"
)

// The comparisons of requests per CPU second, one per protocol.

const about = "%d rounds of %v in random order; the server on one core, the generator on another. " +
	"A CPU second counts the generator's whole process. The ratio is that of the medians, with the 95 %% interval of resampled rounds."

func (b *bench) plaintext(ctx context.Context) (*section, error) {
	tools := append(slices.Clone(b.floors), b.peers["wrk"], b.peers["h2load"], b.peers["ab"], b.peers["fortio"],
		b.peers["hey"], b.peers["k6"], b.redline, b.observing)
	n, err := b.startNginx()
	if err != nil {
		return nil, err
	}
	defer n.End()
	s := b.throughput("HTTP/1.1, 64 connections", tools)
	entrants, err := b.contest(ctx, s, "", tools, generator.Shape{Protocol: generator.HTTP1, Address: n.Plain, Connections: 64, Streams: 1})
	if err != nil {
		return nil, err
	}
	s.Marks = []mark{
		b.atLeast(entrants, "wrk", 1.15, "HTTP/1.1"), b.ofAtLeast(b.observing.Name, entrants, "wrk", 1.10, "HTTP/1.1, observing"),
		b.atLeast(entrants, "k6", 8, "HTTP/1.1"),
		b.atLeast(entrants, "hey", 3, "HTTP/1.1"), b.atLeast(entrants, "floor", 0.90, "HTTP/1.1"),
	}
	return s, nil
}

func (b *bench) encrypted(ctx context.Context) (*section, error) {
	tools := []*generator.Tool{b.peers["wrk"], b.peers["h2load"], b.peers["fortio"], b.peers["hey"], b.peers["k6"], b.redline, b.observing}
	n, err := b.startNginx()
	if err != nil {
		return nil, err
	}
	defer n.End()
	s := b.throughput("HTTP/1.1 over TLS 1.3, 64 connections", tools)
	entrants, err := b.contest(ctx, s, "", tools, generator.Shape{Protocol: generator.HTTP1, Address: n.TLS, TLS: true,
		Connections: 64, Streams: 1})
	if err != nil {
		return nil, err
	}
	s.Marks = []mark{b.atLeast(entrants, "wrk", 1, "TLS HTTP/1.1")}
	return s, nil
}

// multiplexed compares both shapes of HTTP/2: few connections with many
// streams, and one stream on each of many.
func (b *bench) multiplexed(ctx context.Context) (*section, error) {
	tools := []*generator.Tool{b.peers["h2load"], b.redline, b.observing}
	n, err := b.startNginx()
	if err != nil {
		return nil, err
	}
	defer n.End()
	s := b.throughput("HTTP/2, cleartext and TLS", tools)
	for _, side := range []struct {
		name, address string
		TLS           bool
	}{{"cleartext", n.H2C, false}, {"TLS", n.H2, true}} {
		for _, form := range [][2]int{{8, 32}, {64, 1}} {
			name := fmt.Sprintf("HTTP/2 %s, %d x %d", side.name, form[0], form[1])
			load := generator.Shape{Protocol: generator.HTTP2, Address: side.address, TLS: side.TLS, Connections: form[0], Streams: form[1]}
			entrants, err := b.contest(ctx, s, name, tools, load)
			if err != nil {
				return nil, err
			}
			s.Marks = append(s.Marks, b.atLeast(entrants, "h2load", 1, name))
		}
	}
	return s, nil
}

func (b *bench) remoteCalls(ctx context.Context) (*section, error) {
	tools := []*generator.Tool{b.peers["ghz"], b.redline, b.observing}
	server, address, _, err := b.serveSelf("serve-echo")
	if err != nil {
		return nil, err
	}
	defer server.End()
	s := b.throughput("gRPC unary against grpc-go", tools)
	for _, form := range [][2]int{{8, 8}, {64, 1}} {
		name := fmt.Sprintf("gRPC, %d x %d", form[0], form[1])
		entrants, err := b.contest(ctx, s, name, tools, generator.Shape{Protocol: generator.GRPC, Address: address,
			Connections: form[0], Streams: form[1]})
		if err != nil {
			return nil, err
		}
		s.Marks = append(s.Marks, b.atLeast(entrants, "ghz", 4, name))
	}
	return s, nil
}

// throughput begins a section of comparisons.
func (b *bench) throughput(title string, tools []*generator.Tool) *section {
	return &section{
		Title: title, About: fmt.Sprintf(about, b.rounds, b.length),
		Columns: []string{"load", "tool", "requests per CPU second", "lowest to highest", "requests/s", "errors", "redline is x times"},
		Notes:   generator.Skipped(tools),
		Raw:     json.RawMessage("{}"),
	}
}

// contest runs one comparison and adds its rows.
func (b *bench) contest(ctx context.Context, s *section, name string, tools []*generator.Tool, load generator.Shape) ([]entrant, error) {
	load.Duration = b.length
	entrants, err := b.compare(ctx, tools, load)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = s.Title
	}
	s.addRaw(name, entrants)
	ours := find(entrants, "redline")
	for _, e := range entrants {
		if e.Failed != "" {
			s.Notes = append(s.Notes, fmt.Sprintf("%s, %s failed: %s", name, e.Tool, e.Failed))
		}
		values := e.perCPU()
		if len(values) == 0 {
			continue
		}
		times := ""
		if r, ok := b.ratioOf(ours, e); ok && e.Tool != "redline" {
			times = r.String()
		}
		s.Rows = append(s.Rows, []string{
			name, e.Tool, thousands(stat.Median(values)), thousands(slices.Min(values)) + " to " + thousands(slices.Max(values)),
			thousands(e.rate()), fmt.Sprint(e.errors()), times,
		})
	}
	if own := ours.ownPerCPU(); !math.IsNaN(own) {
		s.Notes = append(s.Notes, fmt.Sprintf("%s: redline itself reports (generator.cpu_ns, the measured span only) "+
			"%s requests per CPU second", name, thousands(own)))
	}
	return entrants, nil
}

// halfOfMax is the rate of the lag section: half of the rate that redline reached
// against nginx, in this run or an earlier one, or now.
func (b *bench) halfOfMax(ctx context.Context, n *serve.Nginx) (float64, error) {
	if s := b.kept.section("http1"); s != nil && s.Short == b.short {
		var raw map[string][]entrant
		if json.Unmarshal(s.Raw, &raw) == nil {
			for _, entrants := range raw {
				if e := find(entrants, "redline"); len(e.Outings) > 0 {
					return math.Floor(e.rate() / 2), nil
				}
			}
		}
	}
	load := generator.Shape{Protocol: generator.HTTP1, Address: n.Plain, Connections: 64, Streams: 1,
		Duration: max(b.length, 2*time.Second)}
	reported, _, err := b.run(ctx, b.redline, load, nil)
	if err != nil {
		return 0, err
	}
	return math.Floor(float64(reported.Requests) / load.Duration.Seconds() / 2), nil
}
