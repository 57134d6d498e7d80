package grpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/http2"
	"github.com/redline-go/redline/load/requests"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

var (
	_ load.Protocol    = (*Protocol)(nil)
	_ load.StatusNamer = (*Protocol)(nil)
	_ load.Traced      = (*Protocol)(nil)
	_ load.Wire        = (*wire)(nil)
	_ http2.Handler    = (*wire)(nil)
)

// Protocol makes the wires of a plan of gRPC calls. It is immutable except for
// buffers that its wires share.
type Protocol struct {
	hosts    requests.Hosts
	requests []request
	streams  int
	timeout  time.Duration // sent to servers
	keep     []string      // fields of answers that are examined

	// Room that calls take while they need it.
	renderings sync.Pool // of *rendering
	checkings  sync.Pool // of *checking
}

// New compiles the plan's requests. Without a descriptor set in the plan it
// asks each of its servers for the schema, for ten seconds at most; ctx ends
// that. A request that cannot be sent is an error that names the request.
func New(ctx context.Context, p *scenario.Plan) (*Protocol, error) {
	protocol := &Protocol{streams: p.Load.Streams, timeout: p.Load.WithDefaults().Timeout,
		keep: append([]string{"content-type", "grpc-status", "grpc-message"}, checkedFields(p)...)}
	endpoints := make([]endpoint.Endpoint, len(p.Requests))
	protocol.renderings.New = func() any { return &rendering{} }
	protocol.checkings.New = func() any { return &checking{} }
	err := requests.Each("grpc", p, func(i int, q *scenario.Request) (err error) {
		endpoints[i], err = parseEndpoint(*q, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	// All endpoints before any schema: a server is asked once, for the services of all its requests.
	schemas, err := schemasOf(ctx, p, endpoints)
	if err != nil {
		return nil, err
	}
	err = requests.Each("grpc", p, func(i int, q *scenario.Request) error {
		m, err := schemas[i].method(endpoints[i].Path)
		if err != nil {
			return err
		}
		r, err := compile(*q, p, endpoints[i], m, schemas[i], protocol.timeout)
		if err != nil {
			return err
		}
		// Only HTTP/2: a server that would choose HTTP/1.1 serves no gRPC, and the
		// handshake reports that more clearly than a failed call.
		r.host = protocol.hosts.Add(endpoints[i], "h2")
		protocol.requests = append(protocol.requests, r)
		return tryRows(&r, p)
	})
	if err != nil {
		return nil, err
	}
	return protocol, nil
}

func parseEndpoint(q scenario.Request, p *scenario.Plan) (endpoint.Endpoint, error) {
	at, err := endpoint.Parse(string(q.URL), p)
	switch {
	case err != nil:
		return at, err
	case at.Scheme != "grpc" && at.Scheme != "grpcs":
		//lint:ignore ST1005 the dots stand for the rest of a URL
		return at, fmt.Errorf("its URL has the scheme %s; write grpc://... or grpcs://...", at.Scheme)
	case strings.Contains(at.Path, "{{"):
		return at, errors.New("the method cannot come from data")
	}
	_, _, err = splitPath(at.Path)
	return at, err
}

// schemasOf returns the schema of each request.
func schemasOf(ctx context.Context, p *scenario.Plan, endpoints []endpoint.Endpoint) ([]*schema, error) {
	schemas := make([]*schema, len(endpoints))
	if len(p.GRPC.Descriptor) > 0 {
		set, err := parseSet(p.GRPC.Descriptor)
		if err != nil {
			return nil, fmt.Errorf("grpc: %s: %w", p.GRPC.DescriptorFile, err)
		}
		for i := range schemas {
			schemas[i] = set
		}
		return schemas, nil
	}
	for i, at := range endpoints {
		if schemas[i] != nil {
			continue
		}
		var services []protoreflect.FullName
		for _, other := range endpoints[i:] {
			if requests.Same(at, other) {
				service, _, _ := splitPath(other.Path) // parseEndpoint has tried
				services = append(services, service)
			}
		}
		asked, err := askSchema(ctx, at, services, openMetadata(p.Requests[i], p))
		if err != nil {
			return nil, fmt.Errorf("grpc: %w", err)
		}
		for j, other := range endpoints {
			if requests.Same(at, other) {
				schemas[j] = asked
			}
		}
	}
	return schemas, nil
}

// rowsTried bounds the rows that are tried before the load; data after them
// that a message cannot hold fails its request.
const rowsTried = 1000

// tryRows encodes a request with the plan's first rows.
func tryRows(r *request, p *scenario.Plan) error {
	if r.encode == nil {
		return nil
	}
	trial, rows := trialPlan(p)
	e := &encoding{rows: trial.NewCursor(0)}
	var body []byte
	for range min(rows, rowsTried) {
		var err error
		if body, err = r.encode.encode(body[:0], e); err != nil {
			return err
		}
		e.rows.Next()
	}
	return nil
}

// trialPlan returns a plan with the data of p, so that trying it does not take from
// its sequences, and the number of rows of its longest feeder.
func trialPlan(p *scenario.Plan) (trial *scenario.Plan, rows int) {
	trial, rows = &scenario.Plan{Data: map[string]*feeder.Table{}}, 1
	for name, t := range p.Data {
		trial.Data[name] = &feeder.Table{Columns: t.Columns, Rows: t.Rows, Sequence: t.Sequence, Random: t.Random}
		rows = max(rows, len(t.Rows))
	}
	return trial, rows
}

// Hosts returns the endpoints that the plan names.
func (p *Protocol) Hosts() []load.Host { return p.hosts.All }

// Host returns where a request goes.
func (p *Protocol) Host(request int) int { return p.requests[request].host }

// Traced reports whether a request has no trace context of the plan's own.
func (p *Protocol) Traced(request int) bool { return p.requests[request].traced }

// StatusName returns the name of a status: "NOT_FOUND".
func (p *Protocol) StatusName(status int) string { return codeName(status) }

// Wire returns a wire to a host.
func (p *Protocol) Wire(host int) load.Wire {
	w := &wire{p: p}
	w.Session = http2.NewSession(http2.Config{
		Streams: p.streams, Handler: w, Keep: p.keep, Secure: p.hosts.All[host].TLS != nil,
	})
	return w
}
