package http1

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
)

var (
	_ load.Dialer = (*Dialer)(nil)
	_ load.Client = (*client)(nil)
)

// Dialer makes the connections of a plan over plaintext HTTP/1.1. It is safe
// for concurrent use; its clients are not.
type Dialer struct {
	plan     *scenario.Plan
	clock    record.Clock
	requests []request
	hosts    []string // host:port of each host of the plan
	data     bool     // whether any request takes data
	names    resolver
	dialer   net.Dialer
}

// NewDialer compiles the plan's requests. A request that cannot be sent over
// plaintext HTTP/1.1 is an error that names it, https URLs among them.
func NewDialer(p *scenario.Plan, clock record.Clock) (*Dialer, error) {
	if len(p.Requests) == 0 {
		return nil, errors.New("http1: the plan has no request")
	}
	d := &Dialer{plan: p, clock: clock}
	// Probes would be packets that no request of the plan has sent.
	d.dialer.KeepAlive = -1
	index := map[string]int{}
	for i, q := range p.Requests {
		r, at, err := compile(q, p)
		if err == nil && at.TLS != nil {
			err = errors.New("https is not supported yet; load the service's plaintext port")
		}
		if err != nil {
			name := q.Name
			if name == "" {
				name = fmt.Sprint(i + 1)
			}
			return nil, fmt.Errorf("http1: request %s: %w", name, err)
		}
		host, ok := index[at.Address]
		if !ok {
			host = len(d.hosts)
			index[at.Address] = host
			d.hosts = append(d.hosts, at.Address)
		}
		r.host, r.judge = host, newVerdicts(q.Expect)
		d.data = d.data || r.static == nil
		d.requests = append(d.requests, r)
	}
	return d, nil
}

// Client returns connection number id, which opens when its first request is
// sent. A plan with several hosts has one connection to each.
func (d *Dialer) Client(id int) load.Client {
	c := &client{d: d, id: id, links: make([]link, len(d.hosts)), in: make([]byte, firstBuffer)}
	if d.data {
		c.cursor = scenario.NewCursor(d.plan, uint64(id))
	}
	return c
}

// dial opens a connection to a host of the plan within timeout.
func (d *Dialer) dial(ctx context.Context, host, id int, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	addresses, err := d.names.lookup(ctx, d.hosts[host])
	if err != nil {
		return nil, err
	}
	// Connections spread over a name's addresses, and go on to the next one
	// where nobody listens: localhost is ::1 and 127.0.0.1.
	var failed error
	for i := range addresses {
		conn, err := d.dialer.DialContext(ctx, "tcp", addresses[(id+i)%len(addresses)])
		if err == nil {
			return conn, nil
		}
		failed = err
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}
