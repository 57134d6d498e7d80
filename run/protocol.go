package run

import (
	"context"
	"fmt"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/fence"
	"github.com/redline-go/redline/load/grpc"
	"github.com/redline-go/redline/load/http1"
	"github.com/redline-go/redline/load/http2"
	"github.com/redline-go/redline/load/tcp"
	"github.com/redline-go/redline/load/websocket"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/protocol"
)

// newProtocol compiles the plan's requests into their protocol. With asks it may
// ask the target for a schema that the plan lacks, so the target must be up; without,
// it returns nil for such a plan.
func newProtocol(ctx context.Context, p *scenario.Plan, asks bool) (load.Protocol, error) {
	switch p.Protocol {
	case "", protocol.HTTP1:
		return http1.New(p)
	case protocol.HTTP2:
		return http2.New(p)
	case protocol.WebSocket:
		return websocket.New(p)
	case protocol.TCP:
		return tcp.New(p)
	case protocol.RPC:
		if len(p.GRPC.Descriptor) == 0 && !asks {
			return nil, nil
		}
		return grpc.New(ctx, p)
	}
	return nil, fmt.Errorf("protocol %q is not known", p.Protocol)
}

// Elsewhere returns the hosts that a plan puts load on, except this one and those
// that the plan names, and describes each with its addresses. A run refuses to load
// them: the caller adds them to the plan's Hosts once a person has agreed.
func Elsewhere(ctx context.Context, p *scenario.Plan) (hosts, described []string, err error) {
	away, err := fence.Elsewhere(ctx, p)
	for _, a := range away {
		hosts, described = append(hosts, a.Host), append(described, a.String())
	}
	return hosts, described, err
}

// staysHere returns an error if a plan leaves this host without confirmation.
func staysHere(ctx context.Context, p *scenario.Plan) error {
	away, err := fence.Elsewhere(ctx, p)
	if err == nil && len(away) > 0 {
		err = &fence.AwayError{Away: away[0]}
	}
	return err
}
