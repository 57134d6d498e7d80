//go:build linux

package loadtest_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"

	"github.com/redline-go/redline/load"
	rpc "github.com/redline-go/redline/load/grpc"
	"github.com/redline-go/redline/load/http1"
	"github.com/redline-go/redline/load/http2"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

// witness records the traces that a server saw.
type witness struct {
	mu     sync.Mutex
	all    int
	traced map[string]string // number by trace id
	odd    []string
}

func (w *witness) saw(parent, number string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all++
	parts := strings.Split(parent, "-")
	switch {
	case parent == "" && number == "":
	case len(parts) != 4 || parts[0] != "00" || len(parts[1]) != 32 || len(parts[2]) != 16 || parts[3] != "01" || number == "":
		w.odd = append(w.odd, fmt.Sprintf("%q with number %q", parent, number))
	default:
		if was, again := w.traced[parts[1]]; again && was != number {
			w.odd = append(w.odd, "two requests have the trace "+parts[1])
		}
		w.traced[parts[1]] = number
	}
}

func (w *witness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.saw(r.Header.Get("Traceparent"), r.Header.Get("X-Redline-Request"))
	if r.URL.Path == "/from" {
		http.Redirect(out, r, "/to", http.StatusTemporaryRedirect)
		return
	}
	fmt.Fprint(out, "ok")
}

// traced runs a plan with traces and returns the slow requests by trace id.
func traced(t *testing.T, p *scenario.Plan, protocol load.Protocol) map[string]record.SlowRequest {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	sink := &loadtest.Sink{Logged: map[histogram.Kind]int64{}}
	r, err := load.Run(t.Context(), load.Config{Plan: p, Clock: clock, Protocol: protocol, Record: sink, Trace: 0xfeed})
	if err != nil {
		t.Fatal(err)
	}
	if r.Load.Errors > 0 || r.Load.Requests == 0 {
		t.Errorf("%d requests, %d errors: %v", r.Load.Requests, r.Load.Errors, r.Load.ErrorKinds)
	}
	slow := map[string]record.SlowRequest{}
	ids := map[int64]bool{}
	for _, s := range sink.Slowest {
		if ids[s.ID] {
			t.Errorf("request %d is written twice", s.ID)
		}
		ids[s.ID] = true
		if s.TraceID != "" {
			slow[s.TraceID] = s
		}
	}
	return slow
}

// TestTracesReachTheTarget: the trace context of a sampled request arrives, over
// each protocol that can carry it, and slow.jsonl holds the same requests.
func TestTracesReachTheTarget(t *testing.T) {
	plan := func(url string, change func(*scenario.Plan)) *scenario.Plan {
		p := &scenario.Plan{
			Load: scenario.Load{Connections: 4, Rate: 1000, Duration: 900 * time.Millisecond,
				Timeout: 30 * time.Second, Grace: time.Minute},
			Data: map[string]*feeder.Table{"id": {Columns: []string{"id"}, Rows: [][]string{{"1"}, {"2"}}}},
			Requests: []scenario.Request{
				{Name: "fixed", URL: feeder.Template(url)},
				{Name: "rendered", Method: "POST", URL: feeder.Template(url) + "?id={{id}}", Body: "body {{id}}"},
				{Name: "followed", URL: feeder.Template(url) + "/from", Follow: true},
			},
		}
		change(p)
		return p
	}
	for name, test := range map[string]func(*testing.T, *witness) (*scenario.Plan, load.Protocol){
		"http1": func(t *testing.T, w *witness) (*scenario.Plan, load.Protocol) {
			s := httptest.NewServer(w)
			t.Cleanup(s.Close)
			p := plan(s.URL, func(*scenario.Plan) {})
			made, err := http1.New(p)
			if err != nil {
				t.Fatal(err)
			}
			return p, made
		},
		"http2": func(t *testing.T, w *witness) (*scenario.Plan, load.Protocol) {
			s := httptest.NewUnstartedServer(w)
			s.Config.Protocols = &http.Protocols{}
			s.Config.Protocols.SetUnencryptedHTTP2(true)
			s.Start()
			t.Cleanup(s.Close)
			p := plan(s.URL, func(p *scenario.Plan) { p.Protocol, p.Load.Streams = protocol.HTTP2, 3 })
			made, err := http2.New(p)
			if err != nil {
				t.Fatal(err)
			}
			return p, made
		},
		"grpc": func(t *testing.T, w *witness) (*scenario.Plan, load.Protocol) {
			address := healthServer(t, w)
			p := plan("grpc://"+address+"/grpc.health.v1.Health/Check", func(p *scenario.Plan) {
				p.Protocol, p.Requests = protocol.RPC, p.Requests[:1]
				p.Requests[0].Body = "{}"
			})
			made, err := rpc.New(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			return p, made
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &witness{traced: map[string]string{}}
			p, protocol := test(t, w)
			begun := time.Now()
			slow := traced(t, p, protocol)
			most := int(50 * (1 + time.Since(begun).Seconds())) // 50 per second, and those of the first
			w.mu.Lock()                                         // abandoned requests are still in progress
			defer w.mu.Unlock()
			if len(w.odd) > 0 {
				t.Errorf("the server saw %q", w.odd)
			}
			if n := len(w.traced); n < 15 || n > most {
				t.Errorf("%d of %d requests were traced in %v", n, w.all, time.Since(begun))
			}
			if len(slow) < len(w.traced)/4 {
				t.Errorf("slow.jsonl tells of %d of %d traces", len(slow), len(w.traced))
			}
			for id, s := range slow {
				want := fmt.Sprint(s.ID)
				if len(p.Requests) > 1 { // the server learns which request of the mix it is
					of := func(q scenario.Request) bool { return q.Name == s.Request }
					want += fmt.Sprint(".", slices.IndexFunc(p.Requests, of)+1)
				}
				if number, ok := w.traced[id]; !ok || number != want {
					t.Errorf("slow.jsonl has request %d of trace %s, the server saw %q", s.ID, id, number)
				}
			}
		})
	}
}

func healthServer(t *testing.T, w *witness) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo,
		next grpc.UnaryHandler) (any, error) {
		m, _ := metadata.FromIncomingContext(ctx)
		w.saw(strings.Join(m.Get("traceparent"), ","), strings.Join(m.Get("x-redline-request"), ","))
		return next(ctx, request)
	}))
	healthpb.RegisterHealthServer(s, health.NewServer())
	reflection.Register(s)
	go s.Serve(listener)
	t.Cleanup(s.Stop)
	return listener.Addr().String()
}

// TestPlansKeepTheirOwnTrace: if the plan gives the context, and in runs that trace
// nothing, requests are as the plan says.
func TestPlansKeepTheirOwnTrace(t *testing.T) {
	const own = "00-11111111111111111111111111111111-2222222222222222-00"
	seen := func(run func(url string)) map[string]int {
		var mu sync.Mutex
		contexts := map[string]int{}
		s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			mu.Lock()
			contexts[r.Header.Get("Traceparent")+r.Header.Get("X-Redline-Request")]++
			mu.Unlock()
		}))
		run(s.URL)
		s.Close() // waits for handlers
		mu.Lock()
		defer mu.Unlock()
		return contexts
	}
	got := seen(func(url string) {
		p := get(url, func(p *scenario.Plan) { p.Requests[0].Headers = map[string]scenario.Secret{"TraceParent": own} })
		if slow := traced(t, p, newProtocol(t, p)); len(slow) > 0 {
			t.Errorf("slow.jsonl has %v", slow)
		}
	})
	if len(got) != 1 || got[own] == 0 {
		t.Errorf("the server saw %v", got)
	}
	got = seen(func(url string) {
		p := get(url)
		loadtest.Run(t, p, newProtocol(t, p))
	})
	if len(got) != 1 || got[""] == 0 {
		t.Errorf("without traces the server saw %v", got)
	}
}
