package run

import (
	"context"
	"fmt"

	"github.com/redline-go/redline/load"
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
