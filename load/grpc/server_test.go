package grpc

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// shopServer is the service of shop. What it does depends on user_name.
type shopServer struct {
	t testing.TB
	s *schema
}

func (s *shopServer) desc() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{ServiceName: "shop.Shop", HandlerType: (*any)(nil), Metadata: "shop.proto", Streams: []grpc.StreamDesc{
		{StreamName: "Buy", Handler: s.buy},
		{StreamName: "Watch", Handler: s.watch, ServerStreams: true},
		{StreamName: "Fill", Handler: s.fill, ClientStreams: true},
		{StreamName: "Talk", Handler: s.talk, ServerStreams: true, ClientStreams: true},
	}}
}

func (s *shopServer) message(name string) *dynamicpb.Message {
	return dynamicpb.NewMessage(shopMessage(s.t, s.s, name))
}

func set(m *dynamicpb.Message, field string, value any) *dynamicpb.Message {
	m.Set(m.Descriptor().Fields().ByName(protoreflect.Name(field)), protoreflect.ValueOf(value))
	return m
}

func get(m *dynamicpb.Message, field string) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(field)))
}

// buy returns an order, or fails as the name of its user says.
func (s *shopServer) buy(_ any, stream grpc.ServerStream) error {
	order := s.message("Order")
	if err := stream.RecvMsg(order); err != nil {
		return err
	}
	switch who := get(order, "user_name").String(); who {
	case "stranger":
		return status.Error(codes.NotFound, "no such user: "+who)
	case "slow":
		<-stream.Context().Done()
		return stream.Context().Err()
	case "metadata":
		md, _ := metadata.FromIncomingContext(stream.Context())
		_, limited := stream.Context().Deadline()
		if got := strings.Join(md.Get("x-user"), ",") + " " + strings.Join(md.Get("x-raw-bin"), ","); got != "me \x00\xff" || !limited {
			return status.Errorf(codes.InvalidArgument, "metadata %q, limited %v", got, limited)
		}
		stream.SetTrailer(metadata.Pairs("x-late", "end"))
	}
	return stream.SendMsg(order)
}

// watch sends as many items as the order's i32.
func (s *shopServer) watch(_ any, stream grpc.ServerStream) error {
	order := s.message("Order")
	if err := stream.RecvMsg(order); err != nil {
		return err
	}
	if get(order, "user_name").String() == "slow" {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	for i := range get(order, "i32").Int() {
		if err := stream.SendMsg(set(set(s.message("Item"), "count", int32(i)), "name",
			strings.Repeat("x", int(get(order, "i64").Int())))); err != nil {
			return err
		}
	}
	return nil
}

// fill answers with the sum of its items' counts.
func (s *shopServer) fill(_ any, stream grpc.ServerStream) error {
	sum := int64(0)
	for {
		item := s.message("Item")
		switch err := stream.RecvMsg(item); {
		case errors.Is(err, io.EOF):
			return stream.SendMsg(set(s.message("Order"), "i64", sum))
		case err != nil:
			return err
		}
		sum += get(item, "count").Int()
	}
}

// talk returns each item.
func (s *shopServer) talk(_ any, stream grpc.ServerStream) error {
	for {
		item := s.message("Item")
		switch err := stream.RecvMsg(item); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := stream.SendMsg(item); err != nil {
			return err
		}
	}
}

// reflects registers a version of the reflection service with a server.
type reflects func(*grpc.Server, reflection.ServerOptions)

func v1(s *grpc.Server, o reflection.ServerOptions) {
	grpc_reflection_v1.RegisterServerReflectionServer(s, reflection.NewServerV1(o))
}

func v1alpha(s *grpc.Server, o reflection.ServerOptions) {
	grpc_reflection_v1alpha.RegisterServerReflectionServer(s, reflection.NewServer(o))
}

func silent(*grpc.Server, reflection.ServerOptions) {}

// serve runs shop and the health service on loopback and returns its address.
func serve(t testing.TB, r reflects, options ...grpc.ServerOption) string {
	t.Helper()
	s := &shopServer{t, shopSchema(t)}
	server := grpc.NewServer(options...)
	server.RegisterService(s.desc(), nil)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	r(server, reflection.ServerOptions{Services: server, DescriptorResolver: everything{s.s}, ExtensionResolver: protoregistry.GlobalTypes})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// certificate is one for 127.0.0.1, with its authority as PEM.
func certificate(t testing.TB) (tls.Certificate, []byte) {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	return s.TLS.Certificates[0], pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// conversation is a connection that carries one exchange after the other.
type conversation struct {
	t     testing.TB
	p     *Protocol
	wire  load.Wire
	conn  net.Conn
	begin time.Time
	in    []byte
	ended []*load.Exchange
}

func converse(t testing.TB, p *Protocol) *conversation {
	t.Helper()
	host := p.Hosts()[0]
	c := &conversation{t: t, p: p, wire: p.Wire(0), begin: time.Now(), in: make([]byte, 64<<10)}
	var err error
	if c.conn, err = net.Dial("tcp", host.Address); err != nil {
		t.Fatal(err)
	}
	if host.TLS != nil {
		c.conn = tls.Client(c.conn, host.TLS)
	}
	t.Cleanup(func() { c.conn.Close() })
	if err := c.conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	c.write(c.wire.Open(nil))
	return c
}

func (c *conversation) now() time.Duration { return time.Since(c.begin) + 1 }

func (c *conversation) write(out []byte) {
	c.t.Helper()
	if len(out) == 0 {
		return
	}
	if _, err := c.conn.Write(out); err != nil {
		c.t.Fatal(err)
	}
}

func (c *conversation) send(x *load.Exchange) {
	c.t.Helper()
	for room, _ := c.wire.State(); room == 0; room, _ = c.wire.State() {
		c.read()
	}
	x.Sent = c.now()
	out, err := c.wire.Send(x, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(out)
}

// read reads the next bytes; false when the connection is closed.
func (c *conversation) read() bool {
	c.t.Helper()
	n, err := c.conn.Read(c.in)
	if err != nil {
		var lost error
		if c.ended, lost = c.wire.Shut(c.now(), c.ended); lost == nil && len(c.ended) == 0 {
			c.t.Fatalf("the connection ended: %v", err)
		}
		return false
	}
	var out []byte
	if out, c.ended, err = c.wire.Receive(c.in[:n], c.now(), nil, c.ended); err != nil {
		c.t.Fatal(err)
	}
	c.write(out)
	return true
}

// call sends one request and returns its exchange once it has ended.
func (c *conversation) call(request int) *load.Exchange {
	c.t.Helper()
	c.ended = c.ended[:0]
	x := &load.Exchange{Request: request}
	c.send(x)
	for len(c.ended) == 0 && c.read() {
	}
	if len(c.ended) != 1 || c.ended[0] != x {
		c.t.Fatalf("%d exchanges ended", len(c.ended))
	}
	return x
}

// calls is a plan of calls of shop's methods on a server.
func calls(address string, requests ...scenario.Request) *scenario.Plan {
	p := &scenario.Plan{Load: scenario.Load{Timeout: 10 * time.Second}, Requests: requests}
	for i := range p.Requests {
		q := &p.Requests[i]
		q.Name = string(q.URL) + string(q.Body)
		if !strings.Contains(string(q.URL), "://") {
			q.URL = "grpc://" + feeder.Template(address) + "/" + q.URL
		}
	}
	return p
}

func TestRealServer(t *testing.T) {
	pair, ca := certificate(t)
	secure := grpc.Creds(credentials.NewServerTLSFromCert(&pair))
	six, fifty := "6", "49"
	for name, test := range map[string]struct {
		r       reflects
		options []grpc.ServerOption
		tls     bool
		set     bool
	}{
		"reflection":                 {r: v1},
		"reflection v1alpha":         {r: v1alpha},
		"descriptor set":             {r: silent, set: true},
		"TLS and reflection":         {r: v1, options: []grpc.ServerOption{secure}, tls: true},
		"TLS and reflection v1alpha": {r: v1alpha, options: []grpc.ServerOption{secure}, tls: true},
		"TLS and descriptor set":     {r: silent, set: true, options: []grpc.ServerOption{secure}, tls: true},
	} {
		t.Run(name, func(t *testing.T) {
			address := serve(t, test.r, test.options...)
			if test.tls {
				address = "grpcs://" + address + "/"
			} else {
				address = "grpc://" + address + "/"
			}
			at := feeder.Template(address + "shop.Shop/")
			p := calls("", scenario.Request{URL: at + "Buy", Body: `{"userName":"me","items":[{"count":5}]}`,
				Checks: []scenario.Check{{Name: "a", JSON: "$.userName", Contains: "me"}}},
				scenario.Request{URL: at + "Buy", Body: `{"userName":"stranger"}`},
				scenario.Request{URL: at + "Buy", Body: `{"userName":"stranger"}`, Expect: 5},
				scenario.Request{URL: at + "Buy", Body: `{"userName":"metadata"}`,
					Headers: map[string]scenario.Secret{"X-User": "me", "x-raw-bin": "AP8="},
					Checks:  []scenario.Check{{Name: "b", Header: "x-late", Contains: "end"}}},
				scenario.Request{URL: at + "Watch", Body: `{"i32":50,"i64":3000}`,
					Checks: []scenario.Check{{Name: "c", JSON: "$[49].count", Equals: &fifty}}},
				scenario.Request{URL: at + "Fill", Body: `[{"count":1},{"count":2},{"count":3}]`,
					Checks: []scenario.Check{{Name: "d", JSON: "$.i64", Equals: &six}}},
				scenario.Request{URL: at + "Talk", Body: feeder.Template(`[{"name":"` +
					strings.Repeat("x", 300_000) + `"},{"count":2},{}]`),
					Checks: []scenario.Check{{Name: "e", JSON: "$[2].count"}}},
				scenario.Request{URL: at + "Watch", Body: `{}`},
			)
			p.TLS.CA = ca
			if test.set {
				p.GRPC = scenario.GRPC{Descriptor: shopSet(t), DescriptorFile: "shop.pb"}
			}
			c := converse(t, newProtocol(t, p))
			for round := range 3 {
				for i := range p.Requests {
					x := c.call(i)
					wantStatus, wantKind := 0, failure.Kind("")
					switch i {
					case 1:
						wantStatus, wantKind = 5, failure.Status
					case 2:
						wantStatus = 5
					}
					if x.Status != wantStatus || failure.Of(x.Err) != wantKind || x.Failed != 0 || x.FirstByte < x.Sent ||
						x.Done < x.FirstByte || x.BytesIn == 0 {
						t.Errorf("round %d: %.200s: %+v", round, p.Requests[i].Name, x)
					}
				}
			}
		})
	}
}

func TestDeadlineOfARealServer(t *testing.T) {
	p := calls(serve(t, v1), scenario.Request{URL: "shop.Shop/Buy", Body: `{"userName":"slow"}`})
	p.Load.Timeout = 30 * time.Millisecond
	c := converse(t, newProtocol(t, p))
	if x := c.call(0); failure.Of(x.Err) != failure.Timeout {
		t.Errorf("%+v", x)
	}
}

// TestCancelReachesTheServer gives up a call; the next one goes over the same
// connection.
func TestCancelReachesTheServer(t *testing.T) {
	begun, gone := make(chan bool, 2), make(chan error, 1)
	watch := grpc.StreamInterceptor(func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		begun <- true
		err := handler(srv, s)
		if s.Context().Err() != nil {
			gone <- s.Context().Err()
		}
		return err
	})
	p := calls(serve(t, silent, watch), scenario.Request{URL: "shop.Shop/Watch", Body: `{"userName":"slow"}`},
		scenario.Request{URL: "shop.Shop/Watch"})
	p.GRPC.Descriptor = shopSet(t)
	c := converse(t, newProtocol(t, p))
	x := &load.Exchange{}
	c.send(x)
	<-begun
	out, keep := c.wire.Cancel(x, nil)
	if !keep {
		t.Fatal("the connection cannot be kept")
	}
	c.write(out)
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the server's call ended by %v", err)
	}
	if x := c.call(1); x.Err != nil {
		t.Error(x.Err)
	}
}

// TestServerThatDies has one that sends the beginning of a stream and no more.
func TestServerThatDies(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		p := &peer{first: frame(settings, 0, 0, nil), answer: func(id uint32, _ []byte) ([]byte, bool) {
			return joined(begins(id), says(id, "half a stream")), true
		}}
		for in := make([]byte, 4096); ; {
			n, err := conn.Read(in)
			if err != nil {
				return
			}
			out, shut := p.take(in[:n])
			if _, err := conn.Write(out); err != nil || shut {
				return
			}
		}
	}()
	p := calls(l.Addr().String(), scenario.Request{URL: "shop.Shop/Watch", Body: `{}`})
	p.GRPC.Descriptor = shopSet(t)
	if x := converse(t, newProtocol(t, p)).call(0); failure.Of(x.Err) != failure.ShortBody {
		t.Errorf("%+v", x)
	}
}

func TestHealthService(t *testing.T) {
	p := calls(serve(t, v1), scenario.Request{URL: "grpc.health.v1.Health/Check", Body: `{"service":""}`,
		Checks: []scenario.Check{{Name: "up", JSON: "$.status", Contains: "SERVING"}}},
		scenario.Request{URL: "grpc.health.v1.Health/Check", Body: `{"service":"none"}`, Expect: 5})
	c := converse(t, newProtocol(t, p))
	for i := range p.Requests {
		if x := c.call(i); x.Err != nil || x.Failed != 0 {
			t.Errorf("%+v", x)
		}
	}
}
