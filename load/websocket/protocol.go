// Package websocket speaks WebSocket (RFC 6455) for the load package. A
// connection is upgraded once; a request's body is then a message, and its
// answer is the next message that the target begins. A request with NoReply
// ends when its message was sent. Messages are text, or binary where the body
// is not UTF-8. No extension is offered, so nothing is compressed.
//
// The upgrade carries the plan's headers (Authorization, Cookie, Origin,
// Sec-WebSocket-Protocol). It goes out when the connection opens, so that idle
// connections are upgraded before there is load. If data goes into the URL or a
// header, it waits for the connection's first message and takes that message's row,
// for as long as the connection lasts; the time of the upgrade is then part of the
// first message's.
//
// Messages of the target when nothing is in progress are dropped, and counted. A message that it
// pushes between a message and its answer looks like the answer.
//
// Masking keys come from a generator that is not secret. Masking protects proxies
// from attacks by a page through a browser (RFC 6455, section 10.3); here the sender
// wrote the messages.
//
// Refused: more than one message in progress per connection, because answers
// cannot be matched to messages; redirects of the upgrade, which a client may follow
// but most do not.
package websocket

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/requests"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

var (
	_ load.Protocol = (*Protocol)(nil)
	_ load.Wire     = (*wire)(nil)
	_ load.Drainer  = (*wire)(nil)
	_ load.Pusher   = (*Protocol)(nil)
)

// Protocol makes the wires of a plan over WebSocket. It is immutable except for the count
// of its wires, which seeds their masking keys, and that of pushed messages.
type Protocol struct {
	handshakes []handshake // one per host
	hosts      []load.Host
	requests   []request
	wires      atomic.Uint64
	pushed     atomic.Int64
	answers    sync.Pool // of *check.Answer, which only exchanges in progress hold
}

// request is one kind of message.
type request struct {
	host    int
	message []byte // when no data goes into it, else nil
	opcode  opcode // of message
	body    *feeder.Renderer
	checks  *check.Set // nil for none
	noReply bool
}

// New compiles the plan's messages and upgrades. A request that cannot be sent over
// WebSocket is an error that names the request. Requests with the same URL and
// headers share connections.
func New(p *scenario.Plan) (*Protocol, error) {
	if err := requests.OneAtATime("websocket", p); err != nil {
		return nil, err
	}
	protocol := &Protocol{answers: sync.Pool{New: func() any { return new(check.Answer) }}}
	secure := map[string]*tls.Config{} // by address
	err := requests.Each("websocket", p, func(_ int, q *scenario.Request) error { return protocol.compile(q, p, secure) })
	if err != nil {
		return nil, err
	}
	return protocol, nil
}

// Pushed returns how many messages came while no request was in progress.
func (p *Protocol) Pushed() int64 { return p.pushed.Load() }

func (p *Protocol) compile(q *scenario.Request, plan *scenario.Plan, secure map[string]*tls.Config) error {
	if err := fits(q); err != nil {
		return err
	}
	at, err := endpoint.Parse(string(q.URL), plan)
	if err != nil {
		return err
	}
	if at.Scheme != "ws" && at.Scheme != "wss" {
		return fmt.Errorf("its URL has the scheme %s; write ws:// or wss://", at.Scheme)
	}
	r := request{noReply: q.NoReply}
	if r.checks, err = check.New(*q); err != nil {
		return err
	}
	if r.body, err = feeder.CompileTemplate(q.Body, plan.Data); err != nil {
		return err
	}
	if r.body.Static() {
		r.message = append([]byte{}, r.body.Append(nil, nil)...)
		r.opcode = kindOf(r.message)
	}
	for r.host = 0; r.host < len(p.hosts); r.host++ {
		e := &p.handshakes[r.host]
		if e.scheme == at.Scheme && e.authority == at.Authority && e.path == at.Path && maps.Equal(e.headers, q.Headers) {
			break
		}
	}
	if r.host == len(p.hosts) {
		e, err := upgrade(at, q, plan)
		if err != nil {
			return err
		}
		if at.TLS != nil {
			if known := secure[at.Address]; known != nil {
				at.TLS = known // with its sessions
			}
			at.TLS.NextProtos = []string{"http/1.1"}
			secure[at.Address] = at.TLS
		}
		p.handshakes = append(p.handshakes, e)
		p.hosts = append(p.hosts, load.Host{Address: at.Address, TLS: at.TLS})
	}
	p.requests = append(p.requests, r)
	return nil
}

// fits refuses settings that do not apply to messages.
func fits(q *scenario.Request) error {
	switch {
	case q.Expect != 0 && q.Expect != 101:
		return fmt.Errorf("it expects status %d, but a successful upgrade always has 101", q.Expect)
	case q.Follow:
		return errors.New("redirects of an upgrade are not followed; write the URL that it leads to")
	case q.NoReply && len(q.Checks) > 0:
		return errors.New("it has checks, but expects no answer")
	}
	for _, c := range q.Checks {
		if len(c.Status) > 0 || c.Header != "" {
			return fmt.Errorf("check %s: a message has no status and no headers, only a body", c.Name)
		}
	}
	return nil
}

// kindOf returns a message's opcode.
func kindOf(message []byte) opcode {
	if utf8.Valid(message) {
		return text
	}
	return binary
}

// Hosts returns the plan's endpoints, in the order in which they first appear.
// Two that differ in path or headers alone have the same address.
func (p *Protocol) Hosts() []load.Host { return p.hosts }

// Host returns the index of the endpoint that messages of a request go to.
func (p *Protocol) Host(request int) int { return p.requests[request].host }

// Wire returns the state machine of one connection to an endpoint.
func (p *Protocol) Wire(host int) load.Wire {
	return newWire(p, &p.handshakes[host], p.wires.Add(1))
}
