package document

import (
	"net/netip"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/scalar"
)

// load decodes how the requests are timed.
func (d *decoder) load(n ast.Node) {
	l := &d.plan.Load
	duration := func(name string, to *time.Duration, parse func(string) (time.Duration, error)) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) { parsed(d, n, name, to, parse) }}
	}
	rate := func(name string, to *float64) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) { parsed(d, n, name, to, scalar.ParseRate) }}
	}
	count := func(name string, to *int, high int) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) {
			parsed(d, n, name, to, func(s string) (int, error) { return scalar.ParseCount(s, 1, high) })
		}}
	}
	var stages, replay ast.Node
	var limit, requests int
	seen := d.mapping(n, "load", []key{
		rate("rate", &l.Rate), rate("rate_per_connection", &l.PerConnection), rate("connect_rate", &l.ConnectRate),
		count("connections", &l.Connections, scalar.MaxConnections), count("max_connections", &limit, scalar.MaxConnections),
		count("requests", &requests, scenario.MaxRequests), count("streams", &l.Streams, scenario.MaxStreams),
		count("threads", &l.Threads, scenario.MaxThreads),
		duration("duration", &l.Duration, scalar.ParsePositive), duration("warmup", &l.Warmup, scalar.ParseDuration),
		duration("timeout", &l.Timeout, scalar.ParsePositive), duration("grace", &l.Grace, scalar.ParsePositive),
		{name: "arrivals", decode: func(d *decoder, n ast.Node) { parsed(d, n, "arrivals", &l.Arrivals, scenario.ParseArrivals) }},
		{name: "think", decode: (*decoder).think},
		{name: "sources", decode: (*decoder).sources},
		{name: "stages", decode: func(_ *decoder, n ast.Node) { stages = n }},
		{name: "replay", decode: func(_ *decoder, n ast.Node) { replay = n }},
	})
	d.remember("load", seen)
	l.Requests = int64(requests)
	d.replayAt = replay
	if at := seen["connections"]; at != nil && seen["rate"] != nil {
		d.fail(at, "keep one; max_connections caps the connections of a rate",
			"rate (open loop) and connections (closed loop) exclude each other")
		return
	}
	if at := seen["connections"]; at != nil && replay != nil {
		d.fail(at, "max_connections caps the connections of a replay",
			"replay (open loop) and connections (closed loop) exclude each other")
	}
	if at := seen["rate_per_connection"]; at != nil && seen["rate"] != nil {
		d.fail(at, "keep one; the rates of all connections add up to the rate", "rate and rate_per_connection exclude each other")
	}
	if at := seen["max_connections"]; at != nil {
		if seen["rate"] == nil && replay == nil {
			d.fail(at, "use connections", "max_connections caps the connections of a rate, and there is none")
		}
		l.Connections = limit
	}
	d.stages(stages, seen["rate"] != nil)
}

func (d *decoder) stages(n ast.Node, open bool) {
	if n == nil {
		return
	}
	for _, e := range d.elements(n, "stages") {
		var s scenario.Stage
		seen := d.mapping(e, "a stage", []key{
			{name: "to", decode: func(d *decoder, n ast.Node) {
				if open {
					parsed(d, n, "to", &s.To, scalar.ParseRate)
					return
				}
				parsed(d, n, "to", &s.To, func(text string) (float64, error) {
					n, err := scalar.ParseCount(text, 1, scalar.MaxConnections)
					return float64(n), err
				})
			}},
			{name: "over", decode: func(d *decoder, n ast.Node) { parsed(d, n, "over", &s.Over, scalar.ParsePositive) }},
		})
		for _, name := range []string{"to", "over"} {
			if seen[name] == nil {
				d.fail(e, "write it as {to: 4000/s, over: 10s}", "a stage has no %s", name)
			}
		}
		d.plan.Load.Stages = append(d.plan.Load.Stages, s)
	}
}

// think decodes a time, or {min, max} or {mean}.
func (d *decoder) think(n ast.Node) {
	t := &d.plan.Load.Think
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		parsed(d, n, "think", t, scenario.ParseThink)
		return
	}
	duration := func(name string, to *time.Duration) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) { parsed(d, n, name, to, scalar.ParseDuration) }}
	}
	before := len(d.errs)
	d.mapping(n, "think", []key{duration("min", &t.Min), duration("max", &t.Max), duration("mean", &t.Mean)})
	if err := t.Validate(); err != nil && len(d.errs) == before {
		d.failErr(n, "think", err)
	}
}

func (d *decoder) sources(n ast.Node) {
	for _, e := range d.elements(n, "sources") {
		var addr netip.Addr
		before := len(d.errs)
		parsed(d, e, "sources", &addr, scenario.ParseSource)
		if len(d.errs) == before {
			d.plan.Load.Sources = append(d.plan.Load.Sources, addr)
		}
	}
}
