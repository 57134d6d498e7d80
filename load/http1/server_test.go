package http1

import (
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

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// drive sends a plan's requests one after another, as the event loop does but
// waiting for each, and returns their results and the number of connections opened.
func drive(t *testing.T, p *Protocol, requests int) (all []*load.Exchange, opened int) {
	t.Helper()
	wires, conns := map[int]load.Wire{}, map[int]net.Conn{}
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for request := range requests {
		x := &load.Exchange{Request: request}
		all = append(all, x)
		for host := p.Host(request); ; {
			if wires[host] == nil {
				wires[host] = p.Wire(host)
			}
			if _, over := wires[host].State(); over || conns[host] == nil {
				conns[host] = dial(t, p.Hosts()[host])
				wires[host].Open(nil)
				opened++
			}
			roundTrip(t, wires[host], conns[host], x)
			if len(x.Redirect) == 0 {
				break
			}
			var err error
			if host, err = p.Follow(x); err != nil {
				x.Err = err
				break
			}
		}
	}
	return all, opened
}

func dial(t *testing.T, h load.Host) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", h.Address)
	if err == nil && h.TLS != nil {
		secure := tls.Client(conn, h.TLS)
		conn, err = secure, secure.Handshake()
	}
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(5 * time.Minute)) // a failure, not a hang
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func roundTrip(t *testing.T, w load.Wire, conn net.Conn, x *load.Exchange) {
	t.Helper()
	out, err := w.Send(x, nil)
	if err == nil {
		_, err = conn.Write(out)
	}
	buffer := make([]byte, 1000)
	for now := time.Duration(1); err == nil; now++ {
		n, readErr := conn.Read(buffer)
		var ended []*load.Exchange
		_, ended, err = w.Receive(buffer[:n], now, nil, nil)
		if errors.Is(readErr, io.EOF) && len(ended) == 0 && err == nil {
			ended, err = w.Shut(now, nil)
			readErr = nil
		}
		if len(ended) == 1 {
			return
		}
		if err == nil {
			err = readErr
		}
	}
	t.Fatal(err)
}

// TestRealServer goes through the forms of answer of Go's server, over plaintext
// and TLS.
func TestRealServer(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/length", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	mux.HandleFunc("/chunks", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Trailer", "X-After")
		for range 5 {
			io.WriteString(w, strings.Repeat("chunk", 1000))
			http.NewResponseController(w).Flush()
		}
		w.Header().Set("X-After", "y")
	})
	mux.HandleFunc("/nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/close", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.Header().Set("Transfer-Encoding", "identity") // its end is the connection's
		io.WriteString(w, "until the end")
	})
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	mux.Handle("/moved", http.RedirectHandler("length", http.StatusFound))
	for _, start := range []func(http.Handler) *httptest.Server{httptest.NewServer, httptest.NewTLSServer} {
		server := start(mux)
		p := &scenario.Plan{}
		if c := server.Certificate(); c != nil {
			p.TLS.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
		}
		at := func(path string) feeder.Template { return feeder.Template(server.URL + path) }
		body := func(text string) []scenario.Check { return []scenario.Check{{Name: "body", Body: true, Equals: &text}} }
		p.Requests = []scenario.Request{
			{URL: at("/length"), Checks: body("hello")},
			{URL: at("/length"), Method: "HEAD", Checks: body("")},
			{URL: at("/chunks"), Checks: body(strings.Repeat("chunk", 5000))},
			{URL: at("/nothing"), Expect: 204},
			{URL: at("/echo"), Method: "POST", Body: "said", Checks: body("said")},
			{URL: at("/moved"), Follow: true, Expect: 200, Checks: body("hello")},
			{URL: at("/close"), Checks: body("until the end")},
			{URL: at("/missing"), Expect: 404},
		}
		all, opened := drive(t, protocol(t, p), len(p.Requests))
		for i, x := range all {
			if x.Err != nil || x.Failed != 0 || x.BytesIn == 0 || x.BytesOut == 0 {
				t.Errorf("%s: status %d (%v), failed %b", p.Requests[i].URL, x.Status, x.Err, x.Failed)
			}
		}
		if opened != 2 { // /close is the last but one
			t.Errorf("%d connections", opened)
		}
		server.Close()
	}
}
