package serving_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/redline-go/redline/lab/micro"
)

// many callers share one client.
const many = 64

// protocol is how a client and its server speak, without TLS on either side.
type protocol struct {
	two     bool              // HTTP/2
	streams *http.HTTP2Config // nil is net/http's own
}

var (
	one    = protocol{}
	two    = protocol{two: true}
	two128 = protocol{two: true, streams: &http.HTTP2Config{MaxConcurrentStreams: 128, MaxReceiveBufferPerStream: 1 << 20}}
)

// multiplexed is a server with the client that all callers share, and the number of
// connections that it made.
type multiplexed struct {
	client *http.Client
	url    string
	conns  atomic.Int64
}

func speak(tb testing.TB, p protocol, handler http.Handler) *multiplexed {
	tb.Helper()
	m := &multiplexed{}
	mux := http.NewServeMux()
	mux.Handle("/", handler)
	mux.HandleFunc("/first", answer)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!p.two)
	protocols.SetUnencryptedHTTP2(p.two)
	m.url = "http://" + serve(tb, &http.Server{
		Handler: mux, Protocols: protocols, HTTP2: p.streams, ReadHeaderTimeout: time.Minute, IdleTimeout: time.Minute,
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				m.conns.Add(1)
			}
		},
	})
	transport := &http.Transport{Protocols: protocols, MaxIdleConns: many, MaxIdleConnsPerHost: many}
	tb.Cleanup(transport.CloseIdleConnections)
	m.client = &http.Client{Transport: transport}
	// Callers that come before there is any connection dial one each, over HTTP/2 as well.
	if err := get(m.client, m.url+"/first", body); err != nil {
		tb.Fatal(err)
	}
	return m
}

func (m *multiplexed) callers(n int) []func() error {
	all := make([]func() error, n)
	for i := range all {
		all[i] = func() error { return get(m.client, m.url, body) }
	}
	return all
}

// BenchmarkMultiplex has 64 callers share one client over HTTP/1.1 or HTTP/2, and reports
// the connections that it took. BenchmarkStreams sets the server's streams and buffers.
func BenchmarkMultiplex(b *testing.B) { share(b, micro.Of(one, two)) }
func BenchmarkStreams(b *testing.B)   { share(b, micro.Of(two, two128)) }

func share(b *testing.B, p protocol) {
	m := speak(b, p, http.HandlerFunc(answer))
	together(b, m.callers(many))
	b.ReportMetric(float64(m.conns.Load()), "conns/op")
}

// BenchmarkManyConnections has 64 callers at once wait for each other's requests to be
// in progress, so that HTTP/1.1 needs a connection for each.
func BenchmarkManyConnections(b *testing.B) {
	gate := newGate(many)
	m := speak(b, micro.Of(one, two), gate)
	for b.Loop() {
		gate.meet(b, m.callers(many))
	}
	b.ReportMetric(float64(m.conns.Load()), "conns/op")
}

// gate answers once n requests are there.
type gate struct {
	n       int64
	waiting atomic.Int64
	open    atomic.Pointer[chan struct{}]
}

func newGate(n int) *gate {
	g := &gate{n: int64(n)}
	open := make(chan struct{})
	g.open.Store(&open)
	return g
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	open := *g.open.Load()
	if g.waiting.Add(1) == g.n {
		next := make(chan struct{})
		g.waiting.Store(0)
		g.open.Store(&next)
		close(open)
	}
	<-open
	answer(w, r)
}

func (g *gate) meet(tb testing.TB, callers []func() error) {
	tb.Helper()
	ended := make(chan error, len(callers))
	for _, call := range callers {
		go func() { ended <- call() }()
	}
	for range callers {
		if err := <-ended; err != nil {
			tb.Fatal(err)
		}
	}
}

// TestMultiplex: 64 requests at once take a connection each, or one; the answers are the
// same.
func TestMultiplex(t *testing.T) {
	for _, c := range []struct {
		p    protocol
		want int64
	}{{one, many}, {two, 1}, {two128, 1}} {
		g := newGate(many)
		m := speak(t, c.p, g)
		g.meet(t, m.callers(many))
		if got := m.conns.Load(); got != c.want {
			t.Errorf("%+v took %d connections, want %d", c.p, got, c.want)
		}
	}
}

func answerRPC(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var in wrapperspb.BytesValue
	if err := decode(&in); err != nil {
		return nil, err
	}
	return &wrapperspb.BytesValue{Value: body}, nil
}

// serveRPC serves one call, which answers with the body, over gRPC.
func serveRPC(tb testing.TB) string {
	tb.Helper()
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "lab.Orders", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Get", Handler: answerRPC}},
	}, struct{}{})
	l, ended := listen(tb), make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	tb.Cleanup(func() {
		server.Stop()
		<-ended
	})
	return l.Addr().String()
}

// rpcs are callers over so many gRPC connections, by turns.
func rpcs(tb testing.TB, addr string, callers, connections int) []func() error {
	tb.Helper()
	pool := make([]*grpc.ClientConn, connections)
	for i := range pool {
		conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = conn.Close() })
		pool[i] = conn
	}
	all := make([]func() error, callers)
	for i := range all {
		all[i] = func() error {
			var out wrapperspb.BytesValue
			err := pool[i%len(pool)].Invoke(context.Background(), "/lab.Orders/Get", &wrapperspb.BytesValue{Value: []byte("A-1000")}, &out)
			if err == nil && string(out.Value) != string(body) {
				err = errBody
			}
			return err
		}
	}
	return all
}

// BenchmarkGRPCPool has 64 callers share one gRPC connection, or four.
func BenchmarkGRPCPool(b *testing.B) {
	together(b, rpcs(b, serveRPC(b), many, micro.Of(1, 4)))
}

// BenchmarkConnReuse has 64 callers fetch a message of protobuf over a pool of HTTP/1.1
// connections, or over one of gRPC.
func BenchmarkConnReuse(b *testing.B) {
	together(b, micro.Of(posts, func(tb testing.TB) []func() error { return rpcs(tb, serveRPC(tb), many, 1) })(b))
}

// posts are callers that fetch the message that rpcs fetch, over HTTP/1.1.
func posts(tb testing.TB) []func() error {
	m := speak(tb, one, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in wrapperspb.BytesValue
		data, err := io.ReadAll(r.Body)
		if err != nil || proto.Unmarshal(data, &in) != nil {
			http.Error(w, "no message", http.StatusBadRequest)
			return
		}
		if data, err = proto.Marshal(&wrapperspb.BytesValue{Value: body}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(data)
	}))
	all := make([]func() error, many)
	for i := range all {
		all[i] = m.post
	}
	return all
}

func (m *multiplexed) post() error {
	in, err := proto.Marshal(&wrapperspb.BytesValue{Value: []byte("A-1000")})
	if err != nil {
		return err
	}
	return post(m.client, m.url, in, func(data []byte) error {
		var out wrapperspb.BytesValue
		if err := proto.Unmarshal(data, &out); err != nil {
			return err
		}
		if string(out.Value) != string(body) {
			return errBody
		}
		return nil
	})
}

func TestRPC(t *testing.T) {
	addr := serveRPC(t)
	for _, callers := range [][]func() error{rpcs(t, addr, 8, 1), rpcs(t, addr, 8, 4), posts(t)} {
		for _, call := range callers {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
