package http2

import (
	"fmt"
	"sync"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/requests"
	"github.com/redline-go/redline/scenario"
)

var (
	_ load.Protocol = (*Protocol)(nil)
	_ load.Follower = (*Protocol)(nil)
	_ load.Traced   = (*Protocol)(nil)
	_ load.Repeater = (*Protocol)(nil)
	_ load.Wire     = (*wire)(nil)
)

// Protocol makes the wires of a plan over HTTP/2. It is safe for concurrent use;
// its wires are not.
type Protocol struct {
	hosts    requests.Hosts
	requests []request
	streams  int
	keep     []string // fields of answers that are examined

	// Buffers that exchanges take for a while, so that idle connections hold none.
	watchers   sync.Pool // of *watcher
	renderings sync.Pool // of *rendering
}

// New compiles the plan's requests. One that HTTP/2 cannot carry is an error that
// names the request.
func New(p *scenario.Plan) (*Protocol, error) {
	protocol := &Protocol{streams: p.Load.Streams}
	protocol.watchers.New = func() any { return new(watcher) }
	protocol.renderings.New = func() any { return new(rendering) }
	verdicts := map[int]*check.Verdicts{}
	err := requests.Each("http2", p, func(_ int, q *scenario.Request) error {
		if verdicts[q.Expect] == nil {
			verdicts[q.Expect] = check.NewVerdicts(q.Expect)
		}
		return protocol.add(*q, p, verdicts[q.Expect])
	})
	if err != nil {
		return nil, err
	}
	return protocol, nil
}

func (p *Protocol) add(q scenario.Request, plan *scenario.Plan, verdicts *check.Verdicts) error {
	at, err := endpoint.Parse(string(q.URL), plan)
	if err != nil {
		return err
	}
	if at.Scheme != "http" && at.Scheme != "https" {
		//lint:ignore ST1005 the dots stand for the rest of a URL
		return fmt.Errorf("its URL has the scheme %s; write http://... or https://...", at.Scheme)
	}
	r, err := compile(q, plan, at)
	if err != nil {
		return err
	}
	if r.checks, err = check.New(q); err != nil {
		return err
	}
	r.host, r.verdicts, p.keep = p.hosts.Add(at, "h2"), verdicts, keep(p.keep, &q)
	p.requests = append(p.requests, r)
	return nil
}

// Hosts returns the endpoints that the plan names.
func (p *Protocol) Hosts() []load.Host { return p.hosts.All }

// Host returns where a request goes.
func (p *Protocol) Host(request int) int { return p.requests[request].host }

// Traced reports whether a request has no trace context of the plan's own.
func (p *Protocol) Traced(request int) bool { return p.requests[request].traced }

// Wire returns a wire to a host.
func (p *Protocol) Wire(host int) load.Wire {
	w := &wire{p: p, host: host}
	w.Session = NewSession(Config{Streams: p.streams, Handler: w, Keep: p.keep, Secure: p.hosts.All[host].TLS != nil})
	return w
}
