package accounting

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/grpc"
	"github.com/redline-go/redline/load/http1"
	"github.com/redline-go/redline/load/http2"
	"github.com/redline-go/redline/load/tcp"
	ws "github.com/redline-go/redline/load/websocket"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

// Models of load by name.
const (
	closedLoop = "closed loop"
	counted    = "closed loop, counted"
	openLoop   = "open loop"
	poisson    = "poisson"
	stages     = "stages"
	replayed   = "replay"
)

var models = []string{closedLoop, openLoop, poisson, stages, counted, replayed}

// How long a run takes: it ends, with all that hangs, within span, timeout and
// grace.
const (
	span    = 150 * time.Millisecond
	timeout = 100 * time.Millisecond
	grace   = 50 * time.Millisecond
)

// mostLanes is the most requests that a closed loop has in progress.
const mostLanes = 4 * 3

func (t trial) closed() bool { return t.model == closedLoop || t.model == counted }

// loadOf is the load of a model, and how many requests it schedules; 0 if chance or the
// target decides.
func loadOf(model string) (l scenario.Load, due int64) {
	l = scenario.Load{Duration: span, Timeout: timeout, Grace: grace, Connections: 8, Threads: 2}
	switch model {
	case closedLoop:
		l.Connections = 4
	case counted:
		l.Connections, l.Requests, l.Duration = 4, 24, 10*time.Second
		l.Think = scenario.Think{Min: 15 * time.Millisecond, Max: 15 * time.Millisecond} // else it is over before the fault strikes
		due = l.Requests
	case openLoop:
		l.Rate, due = 400, 60
	case poisson:
		l.Rate, l.Arrivals = 400, scenario.PoissonArrivals
	case stages:
		// From 200 to 600 a second on the way, then on: 40 + 30.
		l.Rate, l.Stages = 200, []scenario.Stage{{To: 600, Over: 100 * time.Millisecond}}
		due = 70
	case replayed:
		l.Replay = &scenario.Replay{Speed: 1, Feeder: "replay"}
		for i := range 60 {
			l.Replay.At = append(l.Replay.At, time.Duration(i)*span/60)
			l.Replay.Request, l.Replay.Row = append(l.Replay.Request, 0), append(l.Replay.Row, 0)
		}
		due = 60
	}
	return l, due
}

// planOf is the plan of a case against a server, and how many requests it schedules, as loadOf says.
func planOf(t trial, address string) (p *scenario.Plan, due int64) {
	p = &scenario.Plan{TLS: scenario.TLS{Insecure: true}}
	p.Load, due = loadOf(t.model)
	text := messageOf(t)
	q := scenario.Request{Name: "request", URL: feeder.Template("http://" + address + "/")}
	switch t.protocol {
	case "https", "h2":
		q.URL = feeder.Template("https://" + address + "/")
	case "grpc":
		p.Protocol, p.GRPC.Descriptor, q.URL = protocol.RPC, descriptor, feeder.Template("grpc://"+address+"/bench.Faults/Call")
		text = fmt.Sprintf("{\"text\": %q}", text)
	case websocket:
		p.Protocol, q.URL = protocol.WebSocket, feeder.Template("ws://"+address+"/")
	case raw:
		p.Protocol, q.URL = protocol.TCP, feeder.Template("tcp://"+address)
	}
	if t.protocol == "h2c" || t.protocol == "h2" {
		p.Protocol = protocol.HTTP2
	}
	if multiplexed(t.protocol) && t.fault != closeAfter && t.fault != closeIdle {
		p.Load.Streams = 3
	}
	if repeatable(t.protocol) && t.fault != zeroWindow {
		q.Method = "GET"
	} else {
		q.Body = feeder.Template(text)
		if repeatable(t.protocol) {
			q.Method = "POST"
		}
	}
	if p.Load.Replay != nil {
		p.Data = map[string]*feeder.Table{"replay": {Columns: []string{"path"}, Rows: [][]string{{"/"}}}}
	}
	p.Requests = []scenario.Request{q}
	return p, due
}

// messageOf is the content of a request. One that must be held up by a window is larger
// than the buffers on its way.
func messageOf(t trial) string {
	if t.fault == zeroWindow {
		return large
	}
	return message
}

func protocolOf(ctx context.Context, p *scenario.Plan) (load.Protocol, error) {
	switch p.Protocol {
	case protocol.HTTP2:
		return http2.New(p)
	case protocol.RPC:
		return grpc.New(ctx, p)
	case protocol.WebSocket:
		return ws.New(p)
	case protocol.TCP:
		return tcp.New(p)
	}
	return http1.New(p)
}

// descriptor is the schema of the one method that is called.
var descriptor = func() []byte {
	file := &descriptorpb.FileDescriptorProto{}
	err := prototext.Unmarshal([]byte(`
name: "bench.proto" package: "bench" syntax: "proto3"
message_type { name: "Text" field { name: "text" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "text" } }
service { name: "Faults" method { name: "Call" input_type: ".bench.Text" output_type: ".bench.Text" } }`), file)
	if err != nil {
		panic(err) // of the text above
	}
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{file}})
	if err != nil {
		panic(err)
	}
	return set
}()
