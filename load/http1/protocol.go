package http1

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/scenario"
)

var (
	_ load.Protocol = (*Protocol)(nil)
	_ load.Follower = (*Protocol)(nil)
	_ load.Traced   = (*Protocol)(nil)
	_ load.Repeater = (*Protocol)(nil)
)

// Protocol makes the HTTP/1.1 connections of a plan, over plaintext and TLS.
// It is safe for concurrent use; its wires are not.
type Protocol struct {
	requests  []request
	hosts     []load.Host
	endpoints []endpoint.Endpoint // of each host, as its first request has it
	watchers  sync.Pool           // of *watcher
}

// New compiles the plan's requests. One that cannot be sent over HTTP/1.1 is an
// error that names it.
func New(p *scenario.Plan) (*Protocol, error) {
	if len(p.Requests) == 0 {
		return nil, errors.New("http1: the plan has no request")
	}
	t := &Protocol{}
	t.watchers.New = func() any { return new(watcher) }
	verdicts := map[int]*check.Verdicts{}
	for i, q := range p.Requests {
		r, at, err := compile(q, p)
		if err != nil {
			name := q.Name
			if name == "" {
				name = fmt.Sprint(i + 1)
			}
			return nil, fmt.Errorf("http1: request %s: %w", name, err)
		}
		if verdicts[q.Expect] == nil {
			verdicts[q.Expect] = check.NewVerdicts(q.Expect)
		}
		r.host, r.verdicts = t.host(at), verdicts[q.Expect]
		t.requests = append(t.requests, r)
	}
	return t, nil
}

// Traced reports whether a request has no trace context of the plan's own.
func (t *Protocol) Traced(request int) bool { return t.requests[request].traced }

// host returns the index of the host that an endpoint is at.
func (t *Protocol) host(at endpoint.Endpoint) int {
	i := slices.IndexFunc(t.endpoints, func(known endpoint.Endpoint) bool {
		return known.Scheme == at.Scheme && strings.EqualFold(known.Address, at.Address)
	})
	if i >= 0 {
		return i
	}
	if at.TLS != nil {
		at.TLS.NextProtos = []string{"http/1.1"}
	}
	t.endpoints = append(t.endpoints, at)
	t.hosts = append(t.hosts, load.Host{Address: at.Address, TLS: at.TLS})
	return len(t.hosts) - 1
}

// Hosts are the plan's hosts; see load.Protocol.
func (t *Protocol) Hosts() []load.Host { return t.hosts }

// Host returns where a request goes; see load.Protocol.
func (t *Protocol) Host(request int) int { return t.requests[request].host }

// Wire returns a connection's state machine; see load.Protocol. It takes about
// 100 bytes.
func (t *Protocol) Wire(host int) load.Wire { return &wire{t: t, host: host} }
