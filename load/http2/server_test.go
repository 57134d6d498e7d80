package http2

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// serve starts a server of net/http that speaks HTTP/2, and returns its URL.
func serve(t testing.TB, secure bool, handler http.HandlerFunc) string {
	s := httptest.NewUnstartedServer(handler)
	s.EnableHTTP2 = secure
	if secure {
		s.StartTLS()
	} else {
		s.Config.Protocols = &http.Protocols{}
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	}
	t.Cleanup(s.Close)
	return s.URL
}

// connect opens what a host of a protocol needs.
func connect(t testing.TB, h load.Host) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", h.Address)
	if err == nil && h.TLS != nil {
		secure := tls.Client(conn, h.TLS)
		conn, err = secure, secure.Handshake()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// drive carries n exchanges of a plan's requests in turn over one connection,
// as many at once as the wire takes, and returns them.
func drive(t testing.TB, plan *scenario.Plan, n int) []load.Exchange {
	t.Helper()
	p := protocol(t, plan)
	conn, w := connect(t, p.Hosts()[0]), p.Wire(0)
	var cursor *feeder.Cursor
	if len(plan.Data) > 0 {
		cursor = plan.NewCursor(1)
	}
	all := make([]load.Exchange, n)
	var free []int
	for slot := range max(1, plan.Load.Streams) {
		free = append(free, slot)
	}
	out, in := w.Open(nil), make([]byte, 8<<10)
	var ended []*load.Exchange
	for sent, done := 0, 0; done < n; {
		for room, _ := w.State(); room > 0 && len(free) > 0 && sent < n; room, _ = w.State() {
			x := &all[sent]
			*x = load.Exchange{Request: sent % len(plan.Requests), Slot: free[0], Data: cursor}
			var err error
			if out, err = w.Send(x, out); err != nil {
				t.Fatal(err)
			}
			free = free[1:]
			if sent++; cursor != nil {
				cursor.Next()
			}
		}
		if _, err := conn.Write(out); err != nil {
			t.Fatal(err)
		}
		k, err := conn.Read(in)
		if err != nil {
			t.Fatalf("%d of %d done: %v", done, n, err)
		}
		if out, ended, err = w.Receive(in[:k], time.Duration(done+1), out[:0], ended[:0]); err != nil {
			t.Fatal(err)
		}
		for _, x := range ended {
			if len(x.Redirect) > 0 {
				if _, err := p.Follow(x); err == nil {
					if out, err = w.Send(x, out); err != nil { // over the same stream's slot
						t.Fatal(err)
					}
					continue
				} else {
					x.Err = err
				}
			}
			free = append(free, x.Slot)
			done++
		}
	}
	return all
}

// handler is a server with an answer of each kind.
func handler(seen *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		switch r.URL.Path {
		case "/echo":
			w.Header().Set("X-Length", strconv.FormatInt(r.ContentLength, 10))
			io.Copy(w, r.Body)
		case "/large":
			io.Copy(w, io.LimitReader(endlessly{}, 3<<20))
		case "/interim":
			w.Header().Set("Link", "</x>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Set("Trailer", "X-Sum")
			io.WriteString(w, "body")
			w.Header().Set("X-Sum", "1")
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/early":
			w.WriteHeader(http.StatusRequestEntityTooLarge) // the body is not read
		case "/headers":
			w.Header().Set("X-Request-Id", fmt.Sprint(seen.Load()))
			fmt.Fprint(w, r.Method, r.Host, r.Header.Get("X-Given"), r.Header.Get("Authorization"), r.UserAgent(), r.URL.RawQuery)
		default:
			io.WriteString(w, "small")
		}
	}
}

type endlessly struct{}

func (endlessly) Read(p []byte) (int, error) { return len(p), nil }

func TestServerOfNetHTTP(t *testing.T) {
	large := strings.Repeat("0123456789", 30000)
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %v", secure), func(t *testing.T) {
			var seen atomic.Int64
			url := serve(t, secure, handler(&seen))
			request := func(method, path, body string) scenario.Request {
				return scenario.Request{Method: method, URL: feeder.Template(url + path), Body: feeder.Template(body),
					Headers: map[string]scenario.Secret{"X-Given": "{{row.id}}", "Authorization": "Bearer abc"}}
			}
			plan := &scenario.Plan{
				Load: scenario.Load{Streams: 16}, TLS: scenario.TLS{Insecure: true},
				Data: map[string]*feeder.Table{"row": {Columns: []string{"id"}, Rows: [][]string{{"1"}, {"two"}, {""}}}},
				Requests: []scenario.Request{
					request("GET", "/small", ""), request("HEAD", "/small", ""), request("POST", "/echo", large),
					request("POST", "/echo", "row {{row.id}}"), request("GET", "/large", ""), request("PUT", "/interim", ""),
					request("GET", "/abort", ""), request("GET", "/headers?q={{row.id}}", ""), request("POST", "/early", large),
				},
			}
			const n = 200
			for i, x := range drive(t, plan, n) {
				q := plan.Requests[x.Request]
				want, status, least := failure.Kind(""), 200, int64(9)
				switch q.URL {
				case feeder.Template(url + "/abort"):
					want, status = failure.StreamReset, 0
				case feeder.Template(url + "/early"):
					want, status = failure.Status, 413
				case feeder.Template(url + "/large"):
					least = 3 << 20
				case feeder.Template(url + "/echo"):
					least = int64(len(q.Body)) - 10
				}
				if failure.Of(x.Err) != want || x.Status != status || x.BytesIn < least || x.BytesOut < 20 ||
					x.FirstByte <= 0 || x.Done < x.FirstByte {
					t.Fatalf("exchange %d, %s %s: %v, %+v", i, q.Method, q.URL, x.Err, x)
				}
			}
			if seen.Load() != n {
				t.Errorf("the server saw %d requests of %d", seen.Load(), n)
			}
		})
	}
}

func TestServerSeesThePlansRequest(t *testing.T) {
	var mu sync.Mutex
	var got bytes.Buffer
	url := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(&got, r.Proto, r.Method, r.Host, r.URL, r.Header["X-A"], r.Header["Authorization"], r.UserAgent(),
			r.ContentLength, len(body))
	})
	// A head of several frames, too.
	long := strings.Repeat("v", 40000)
	plan := &scenario.Plan{
		Data: map[string]*feeder.Table{"row": {Columns: []string{"id"}, Rows: [][]string{{"a b&c"}}}},
		Requests: []scenario.Request{
			{URL: feeder.Template(url)},
			{URL: feeder.Template(url + "/p/{{row}}?q={{row}}"), Method: "DELETE", Headers: map[string]scenario.Secret{"host": "other.test", "X-A": " {{row}}", "Authorization": "Basic x"}},
			{URL: feeder.Template(url + "/"), Method: "POST", Headers: map[string]scenario.Secret{"User-Agent": "me"}, Body: "12345"},
			{URL: feeder.Template(url + "/"), Headers: map[string]scenario.Secret{"X-A": "x", "X-Long": scenario.Secret(long), "Te": "trailers"}, Body: "{{row}}"},
		},
	}
	drive(t, plan, 4)
	host := strings.TrimPrefix(url, "http://")
	want := "HTTP/2.0 GET " + host + " / [] [] redline 0 0\n" +
		"HTTP/2.0 DELETE other.test /p/a%20b&c?q=a+b%26c [a b&c] [Basic x] redline 0 0\n" +
		"HTTP/2.0 POST " + host + " / [] [] me 5 5\n" +
		"HTTP/2.0 GET " + host + " / [x] [] redline 5 5\n"
	mu.Lock()
	defer mu.Unlock()
	if got.String() != want {
		t.Errorf("the server saw\n%s, want\n%s", got.String(), want)
	}
}
