package http1

import (
	"sync"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/requests"
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
	requests []request
	hosts    requests.Hosts
	watchers sync.Pool // of *watcher
}

// New compiles the plan's requests. One that cannot be sent over HTTP/1.1 is an
// error that names it.
func New(p *scenario.Plan) (*Protocol, error) {
	t := &Protocol{}
	t.watchers.New = func() any { return new(watcher) }
	verdicts := map[int]*check.Verdicts{}
	err := requests.Each("http1", p, func(_ int, q *scenario.Request) error {
		r, at, err := compile(*q, p)
		if err != nil {
			return err
		}
		if verdicts[q.Expect] == nil {
			verdicts[q.Expect] = check.NewVerdicts(q.Expect)
		}
		r.host, r.verdicts = t.hosts.Add(at, "http/1.1"), verdicts[q.Expect]
		t.requests = append(t.requests, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Traced reports whether a request has no trace context of the plan's own.
func (t *Protocol) Traced(request int) bool { return t.requests[request].traced }

// Hosts are the plan's hosts; see load.Protocol.
func (t *Protocol) Hosts() []load.Host { return t.hosts.All }

// Host returns where a request goes; see load.Protocol.
func (t *Protocol) Host(request int) int { return t.requests[request].host }

// Wire returns a connection's state machine; see load.Protocol. It takes about
// 100 bytes.
func (t *Protocol) Wire(host int) load.Wire { return &wire{t: t, host: host} }
