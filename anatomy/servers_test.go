package anatomy_test

//lint:file-ignore SA1019 services still run x/net's HTTP/2 and h2c, so both must be found

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp" // a server of its own kind, to be found in traces
	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	grpctest "google.golang.org/grpc/interop/grpc_testing"

	"github.com/redline-go/redline/record/breakdown"
)

// kind is a server to be found: start serves on l, calling handle for each
// request, and returns what sends one and what ends the server once all of its
// requests have ended.
type kind struct {
	name   string
	server string
	start  func(t *testing.T, l net.Listener, handle func()) (send func() error, stop func())
}

func kinds() []kind {
	return []kind{
		{"HTTP/1", breakdown.ServerHTTP, startHTTP(false, func(s *http.Server, p *http.Protocols) { p.SetHTTP1(true) })},
		{"HTTP/2 over TLS", breakdown.ServerHTTP2, startHTTP(true, func(s *http.Server, p *http.Protocols) { p.SetHTTP2(true) })},
		{"HTTP/2 in the clear", breakdown.ServerHTTP2, startHTTP(false, func(s *http.Server, p *http.Protocols) { p.SetUnencryptedHTTP2(true) })},
		{"x/net over TLS", breakdown.ServerHTTP2, startHTTP(true, func(s *http.Server, p *http.Protocols) {
			s.Protocols = nil
			xhttp2.ConfigureServer(s, nil)
		})},
		{"x/net in the clear", breakdown.ServerHTTP2, startH2C},
		{"gRPC", breakdown.ServerGRPC, startGRPC()},
		{"gRPC workers", breakdown.ServerGRPC, startGRPC(grpc.NumStreamWorkers(3))},
		{"gRPC over net/http", breakdown.ServerHTTP2, startGRPCOverHTTP},
		{"fasthttp", breakdown.ServerFastHTTP, startFast(&fasthttp.Server{})},
		{"fasthttp, little memory", breakdown.ServerFastHTTP, startFast(&fasthttp.Server{ReduceMemoryUsage: true})},
	}
}

// certificate is a self-signed one for loopback.
func certificate() *tls.Config {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates}
}

// startHTTP serves net/http; choose sets the protocol of server and client.
func startHTTP(secure bool, choose func(*http.Server, *http.Protocols)) func(*testing.T, net.Listener, func()) (func() error, func()) {
	return func(t *testing.T, l net.Listener, handle func()) (func() error, func()) {
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle() }),
			Protocols: &http.Protocols{}, ErrorLog: quiet()}
		p := s.Protocols
		choose(s, p)
		if s.Protocols == nil {
			p.SetHTTP2(true)
		}
		tr := &http.Transport{Protocols: p, MaxIdleConnsPerHost: 16, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		done := make(chan error, 1)
		url := "http://" + l.Addr().String()
		if secure {
			url = "https://" + l.Addr().String()
			s.TLSConfig = certificate()
			if s.Protocols == nil {
				s.TLSConfig.NextProtos = []string{"h2"}
			}
			go func() { done <- s.ServeTLS(l, "", "") }()
		} else {
			go func() { done <- s.Serve(l) }()
		}
		c := &http.Client{Transport: tr}
		return func() error { return get(c, url) }, func() {
			tr.CloseIdleConnections()
			shut(t, s.Shutdown)
			<-done
		}
	}
}

// shut ends a server that knows when its requests have ended.
func shut(t *testing.T, shutdown func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

// startH2C serves HTTP/2 by a handler that takes the connection over.
func startH2C(t *testing.T, l net.Listener, handle func()) (func() error, func()) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle() })
	s := &http.Server{Handler: h2c.NewHandler(h, &xhttp2.Server{})}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	p := &http.Protocols{}
	p.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: p}
	c := &http.Client{Transport: tr}
	return func() error { return get(c, "http://"+l.Addr().String()) }, func() {
		tr.CloseIdleConnections()
		s.Close()
		<-done
		drained(t, ".runHandler")
	}
}

// drained returns when no goroutine runs a function of that name any more: connections
// that a handler took over are not the server's to wait for.
func drained(t *testing.T, function string) {
	buf := make([]byte, 1<<20)
	for range 2000 {
		if !bytes.Contains(buf[:runtime.Stack(buf, true)], []byte(function)) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%s still runs", function)
}

// calls is gRPC's test service: unary calls, and streams in which each message is
// answered.
type calls struct {
	grpctest.UnimplementedTestServiceServer
	handle func()
}

func (c calls) EmptyCall(context.Context, *grpctest.Empty) (*grpctest.Empty, error) {
	c.handle()
	return &grpctest.Empty{}, nil
}

func (c calls) FullDuplexCall(s grpctest.TestService_FullDuplexCallServer) error {
	for {
		if _, err := s.Recv(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		c.handle()
		if err := s.Send(&grpctest.StreamingOutputCallResponse{}); err != nil {
			return err
		}
	}
}

// dial returns a client of the test service.
func dial(t *testing.T, addr string) (grpctest.TestServiceClient, *grpc.ClientConn) {
	cc, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	return grpctest.NewTestServiceClient(cc), cc
}

func empty(c grpctest.TestServiceClient) error {
	_, err := c.EmptyCall(context.Background(), &grpctest.Empty{})
	return err
}

func startGRPC(o ...grpc.ServerOption) func(*testing.T, net.Listener, func()) (func() error, func()) {
	return func(t *testing.T, l net.Listener, handle func()) (func() error, func()) {
		s := grpc.NewServer(append(o, grpc.WaitForHandlers(true))...)
		grpctest.RegisterTestServiceServer(s, calls{handle: handle})
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		client, cc := dial(t, l.Addr().String())
		return func() error { return empty(client) }, func() {
			cc.Close()
			s.GracefulStop()
			<-done
		}
	}
}

// startGRPCOverHTTP serves gRPC as a net/http handler: the stream's goroutine is
// the request, and what gRPC starts for it is not another.
func startGRPCOverHTTP(t *testing.T, l net.Listener, handle func()) (func() error, func()) {
	g := grpc.NewServer()
	grpctest.RegisterTestServiceServer(g, calls{handle: handle})
	s := &http.Server{Handler: g, Protocols: &http.Protocols{}}
	s.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	client, cc := dial(t, l.Addr().String())
	return func() error { return empty(client) }, func() {
		cc.Close()
		shut(t, s.Shutdown)
		<-done
	}
}

func startFast(s *fasthttp.Server) func(*testing.T, net.Listener, func()) (func() error, func()) {
	return func(t *testing.T, l net.Listener, handle func()) (func() error, func()) {
		s.Handler = func(ctx *fasthttp.RequestCtx) { handle(); ctx.WriteString("done") }
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		tr := &http.Transport{MaxIdleConnsPerHost: 16}
		c := &http.Client{Transport: tr}
		return func() error { return get(c, "http://"+l.Addr().String()) }, func() {
			tr.CloseIdleConnections()
			shut(t, s.ShutdownWithContext)
			<-done
		}
	}
}

// injection is a known wait that every kind of server is given.
type injection struct {
	name  string
	wait  func()
	state breakdown.State
	site  string
}

func injections(t *testing.T) []injection {
	var mutex sync.Mutex
	queue := make(chan chan int)
	t.Cleanup(func() { close(queue) })
	go func() {
		for answer := range queue {
			time.Sleep(hold / 3)
			answer <- 1
		}
	}()
	addr := strings.TrimPrefix(downstream(t), "http://")
	return []injection{
		{"sleep", func() { time.Sleep(hold) }, breakdown.StateSleep, "time.Sleep < "},
		{"lock", func() { mutex.Lock(); time.Sleep(hold / 3); mutex.Unlock() }, breakdown.StateLock, "anatomy_test.injections.func"},
		{"channel", func() { answer := make(chan int); queue <- answer; <-answer }, breakdown.StateChannel, "anatomy_test.injections.func"},
		{"network", func() {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				return
			}
			defer conn.Close()
			io.WriteString(conn, bare)
			conn.Read(make([]byte, 1))
		}, breakdown.StateNetwork, "net.(*conn).Read < "},
	}
}

// TestServers serves a load with every kind of server, each request waiting in one known
// way, and asserts that each is found, holding its handler's run, and that the wait
// dominates at its place.
func TestServers(t *testing.T) {
	const clients, each = 6, 8
	injected := injections(t)
	for _, k := range kinds() {
		for _, in := range injected {
			t.Run(k.name+"/"+in.name, func(t *testing.T) {
				v, l := listen(t)
				send, stop := k.start(t, l, func() { v.witness.run(in.wait) })
				a, lines := v.dissect(v.traced(func() {
					var wg sync.WaitGroup
					for range clients {
						wg.Go(func() {
							for range each {
								if err := send(); err != nil {
									t.Error(err)
									return
								}
							}
						})
					}
					wg.Wait()
					stop()
					streamsEnded()
				}))
				want := []breakdown.Served{{Server: k.server, Requests: clients * each}}
				if !slices.Equal(a.Served, want) || a.Merged != 0 {
					t.Errorf("served %+v, want %+v; %d merged", a.Served, want, a.Merged)
				}
				if k.name != "gRPC over net/http" { // its handlers have goroutines of their own
					v.matchHandlers(lines)
					checkDominant(t, a, in)
				}
			})
		}
	}
}

// streamsEnded waits until no goroutine of gRPC's serves a stream any more. The server waits for its handlers, whose goroutines say that
// they are done just before they end: a trace that stops in between has the request cut.
func streamsEnded() {
	for stacks := make([]byte, 1<<20); ; runtime.Gosched() {
		if n := runtime.Stack(stacks, true); !bytes.Contains(stacks[:n], []byte("google.golang.org/grpc.(*Server).serveStreams.func")) {
			return
		}
	}
}

// checkDominant asserts that the injected wait takes more time than any other state but
// running and waiting for a processor.
func checkDominant(t *testing.T, a *breakdown.Anatomy, in injection) {
	t.Helper()
	most := map[breakdown.State]int64{}
	best := breakdown.Part{}
	for _, p := range a.All {
		// The test's own bookkeeping is a lock that a busy machine contends for.
		if p.State == breakdown.StateRunnable || p.State == breakdown.StateRunning || strings.Contains(p.Site, "(*witness)") {
			continue
		}
		if most[p.State] += p.NS; p.NS > best.NS {
			best = p
		}
	}
	for state, ns := range most {
		if ns > most[in.state] {
			t.Errorf("%s took %d ns, %s %d\n%s", state, ns, in.state, most[in.state], render(a))
		}
	}
	if best.State != in.state || !strings.Contains(best.Site, in.site) {
		t.Errorf("most time in %s at %s, want %s at %s", best.State, best.Site, in.state, in.site)
	}
}
