// Package tcp speaks to echo servers over raw TCP for the load package. A request's
// body is the message; its answer is complete when as many bytes as were sent have
// come back, and they must be the same bytes. A message of a request with NoReply
// ends when it was sent, and replies are dropped: an echo server returns it, too, before
// the echo of the next message.
//
// A connection carries one message at a time: a second one in flight would hide how
// long the first one's echo took. Bytes that arrive when nothing is in progress end
// the connection, unless the plan has messages without a reply, whose answers would be
// such bytes.
package tcp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/requests"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

var (
	_ load.Protocol = (*Protocol)(nil)
	_ load.Wire     = (*wire)(nil)
	_ load.Drainer  = (*wire)(nil)
)

// Protocol makes the wires of a plan over raw TCP. It is immutable.
type Protocol struct {
	hosts    requests.Hosts
	requests []request
	// oneWay is set when any message of the plan is sent without a reply.
	oneWay bool
	kinds  []kinds // by host
}

// kinds are the kinds of messages that a host gets.
type kinds struct{ replied, unreplied bool }

// request is one kind of message.
type request struct {
	host    int
	message []byte // when no data goes into it, else nil
	body    *feeder.Renderer
	noReply bool
}

// New compiles the plan's messages. Settings that raw TCP does not have (headers, a status,
// a path) are an error that names the request.
func New(p *scenario.Plan) (*Protocol, error) {
	if err := requests.OneAtATime("tcp", p); err != nil {
		return nil, err
	}
	protocol := &Protocol{}
	err := requests.Each("tcp", p, func(_ int, q *scenario.Request) error { return protocol.compile(q, p) })
	if err != nil {
		return nil, err
	}
	return protocol, nil
}

func (p *Protocol) compile(q *scenario.Request, plan *scenario.Plan) error {
	at, err := endpoint.Parse(string(q.URL), plan)
	switch {
	case err != nil:
		return err
	case at.Scheme != "tcp":
		return fmt.Errorf("its URL has the scheme %s; write tcp://host:port", at.Scheme)
	case strings.Trim(at.Path, "/") != "":
		return errors.New("raw TCP has no paths; write tcp://host:port")
	case len(q.Headers) > 0:
		return errors.New("raw TCP has no headers; the body is all that is sent")
	case q.Expect != 0:
		return errors.New("raw TCP has no status to expect")
	case len(q.Checks) > 0:
		return errors.New("checks do not apply: every echo is compared byte by byte")
	case q.Body == "":
		return errors.New("it has no body, and the body is the message")
	}
	r := request{noReply: q.NoReply}
	if r.body, err = feeder.CompileTemplate(q.Body, plan.Data); err != nil {
		return err
	}
	if r.body.Static() {
		r.message = r.body.Append(nil, nil)
	}
	r.host = p.hosts.Add(at, "")
	p.oneWay = p.oneWay || r.noReply
	if r.host == len(p.kinds) {
		p.kinds = append(p.kinds, kinds{})
	}
	p.kinds[r.host].replied = p.kinds[r.host].replied || !r.noReply
	p.kinds[r.host].unreplied = p.kinds[r.host].unreplied || r.noReply
	p.requests = append(p.requests, r)
	return nil
}

// Hosts returns the plan's addresses in the order in which they first appear.
func (p *Protocol) Hosts() []load.Host { return p.hosts.All }

// Host returns the index of the address that messages of a request go to.
func (p *Protocol) Host(request int) int { return p.requests[request].host }

// Wire returns the state machine of one connection.
func (p *Protocol) Wire(host int) load.Wire {
	return &wire{p: p, mixed: p.kinds[host].replied && p.kinds[host].unreplied}
}
