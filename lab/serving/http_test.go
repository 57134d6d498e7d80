package serving_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/valyala/fasthttp" // the claim is about it

	"github.com/redline-go/redline/lab/micro"
)

const clients = 32

// BenchmarkFastHTTP asks 32 clients' worth of requests for 1.2 KB of net/http, or of
// fasthttp.
func BenchmarkFastHTTP(b *testing.B) {
	together(b, wires(b, clients, micro.Of(serveNetHTTP, serveFast)(b), "/", body))
}

func serveNetHTTP(tb testing.TB) string {
	return serve(tb, &http.Server{Handler: http.HandlerFunc(answer), ReadHeaderTimeout: time.Minute})
}

func serveFast(tb testing.TB) string {
	server := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) { _, _ = ctx.Write(body) }}
	l, ended := listen(tb), make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	tb.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}

// TestFastHTTP: both answer alike. What fasthttp hands to a handler is its own and is
// used again: kept past the handler, it changes.
func TestFastHTTP(t *testing.T) {
	for name, server := range map[string]func(testing.TB) string{"net/http": serveNetHTTP, "fasthttp": serveFast} {
		w := connect(t, server(t), "/", body)
		for range 3 {
			if err := w.get(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	var ctx fasthttp.RequestCtx
	ctx.Request.SetRequestURI("/orders/first")
	kept := ctx.Path()
	ctx.Request.SetRequestURI("/orders/other")
	if ctx.Path(); bytes.Equal(kept, []byte("/orders/first")) {
		t.Error("a path that a handler keeps stays as it was: it may be kept after all")
	}
}

// BenchmarkServerLimits serves with and without the limits of a server.
func BenchmarkServerLimits(b *testing.B) {
	server := micro.Of(&http.Server{}, limited())
	server.Handler = http.HandlerFunc(answer)
	together(b, wires(b, clients, serve(b, server), "/", body))
}

func limited() *http.Server {
	return &http.Server{ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
}

// BenchmarkKeepAlive serves over connections that are kept, or over a new one per request.
func BenchmarkKeepAlive(b *testing.B) {
	together(b, serveKeepAlive(b, micro.Of(true, false)))
}

func serveKeepAlive(tb testing.TB, kept bool) []func() error {
	server := &http.Server{Handler: http.HandlerFunc(answer), ReadHeaderTimeout: time.Minute}
	server.SetKeepAlivesEnabled(kept)
	url := "http://" + serve(tb, server)
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	tb.Cleanup(transport.CloseIdleConnections)
	all := make([]func() error, clients)
	for i := range all {
		all[i] = func() error { return get(&http.Client{Transport: transport}, url, body) }
	}
	return all
}

// get asks for a URL and compares the answer.
func get(client *http.Client, url string, want []byte) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	return check(resp, func(got []byte) error {
		if !bytes.Equal(got, want) {
			return errBody
		}
		return nil
	})
}

// post sends a body and has the answer's checked.
func post(client *http.Client, url string, in []byte, right func([]byte) error) error {
	resp, err := client.Post(url, "application/octet-stream", bytes.NewReader(in))
	if err != nil {
		return err
	}
	return check(resp, right)
}

func check(resp *http.Response, right func([]byte) error) error {
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return right(got)
}

// TestServerLimits: limits change no answer of a client that keeps them, and refuse one
// whose header is too large.
func TestServerLimits(t *testing.T) {
	for _, server := range []*http.Server{{ReadHeaderTimeout: time.Minute}, limited()} {
		server.Handler = http.HandlerFunc(answer)
		url := "http://" + serve(t, server)
		if err := get(http.DefaultClient, url, body); err != nil {
			t.Error(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Large", string(bytes.Repeat([]byte("x"), 64<<10)))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if refused := resp.StatusCode == http.StatusRequestHeaderFieldsTooLarge; refused != (server.MaxHeaderBytes > 0) {
			t.Errorf("a limit of %d bytes: %s", server.MaxHeaderBytes, resp.Status)
		}
	}
}

func TestKeepAlive(t *testing.T) {
	for _, kept := range []bool{true, false} {
		all := serveKeepAlive(t, kept)
		for i := range 2 * len(all) {
			if err := all[i%len(all)](); err != nil {
				t.Fatal(err)
			}
		}
	}
}
