package http2

import (
	"errors"
	"fmt"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/place"
	"github.com/redline-go/redline/scenario"
)

var (
	_ load.Protocol = (*Protocol)(nil)
	_ load.Wire     = (*wire)(nil)
)

// Protocol makes the wires of a plan over HTTP/2. It is immutable.
type Protocol struct {
	hosts    []load.Host
	requests []request
	streams  int
	keep     []string // fields of answers that are looked at
}

// New compiles the plan's requests. What HTTP/2 cannot carry is an error that
// names the request.
func New(p *scenario.Plan) (*Protocol, error) {
	if len(p.Requests) == 0 {
		return nil, errors.New("http2: the plan has no request")
	}
	protocol := &Protocol{streams: p.Load.Streams}
	for i, q := range p.Requests {
		if err := protocol.add(q, p); err != nil {
			name := q.Name
			if name == "" {
				name = fmt.Sprint(i + 1)
			}
			return nil, fmt.Errorf("http2: request %s: %w", name, err)
		}
	}
	return protocol, nil
}

func (p *Protocol) add(q scenario.Request, plan *scenario.Plan) error {
	at, err := place.Parse(string(q.URL), plan)
	if err != nil {
		return err
	}
	if at.Scheme != "http" && at.Scheme != "https" {
		return fmt.Errorf("its URL has the scheme %s; write http://... or https://...", at.Scheme)
	}
	r, err := compile(q, plan, at)
	if err != nil {
		return err
	}
	r.host = p.hostOf(at)
	p.requests = append(p.requests, r)
	return nil
}

// hostOf returns the index of a place among the hosts, and adds it.
func (p *Protocol) hostOf(at place.Place) int {
	for i, h := range p.hosts {
		if h.Address == at.Address && (h.TLS == nil) == (at.TLS == nil) {
			return i
		}
	}
	if at.TLS != nil {
		at.TLS.NextProtos = []string{"h2"}
	}
	p.hosts = append(p.hosts, load.Host{Address: at.Address, TLS: at.TLS})
	return len(p.hosts) - 1
}

// Hosts returns the places that the plan names.
func (p *Protocol) Hosts() []load.Host { return p.hosts }

// Host returns where a request goes.
func (p *Protocol) Host(request int) int { return p.requests[request].host }

// Wire returns a wire to a host.
func (p *Protocol) Wire(host int) load.Wire {
	w := &wire{p: p}
	w.session = NewSession(Config{Streams: p.streams, Handler: w, Keep: p.keep, Secure: p.hosts[host].TLS != nil})
	return w
}
