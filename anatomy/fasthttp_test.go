package anatomy_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// TestFastHTTPBoundaries serves requests of every shape that changes what
// fasthttp does around a handler.
func TestFastHTTPBoundaries(t *testing.T) {
	body := func(n int) *bytes.Reader { return bytes.NewReader(make([]byte, n)) }
	answer := func(ctx *fasthttp.RequestCtx) { ctx.WriteString("hello") }
	read := func(ctx *fasthttp.RequestCtx) {
		if s := ctx.RequestBodyStream(); s != nil {
			io.Copy(io.Discard, s)
		}
		ctx.Write(ctx.PostBody())
	}
	posts := func(n int, sizes ...int) func(v *live) {
		return func(v *live) {
			closedLoop(v.t, 2, n, func(c *http.Client, i int) error { return post(c, v.url(), body(sizes[i%len(sizes)])) })
		}
	}
	tests := []struct {
		name    string
		handler fasthttp.RequestHandler
		setup   func(*fasthttp.Server)
		load    func(v *live)
		want    int
	}{
		{"keep-alive", answer, nil, func(v *live) {
			closedLoop(v.t, 4, 50, func(c *http.Client, i int) error { return get(c, v.url()) })
		}, 200},
		{"one connection after another", answer, nil, func(v *live) {
			for range 20 {
				raw(v, 1, bare)
			}
		}, 20},
		{"server closes", answer, func(s *fasthttp.Server) { s.DisableKeepalive = true }, func(v *live) {
			closedLoop(v.t, 2, 10, func(c *http.Client, i int) error { return get(c, v.url()) })
		}, 20},
		{"timeouts", answer, func(s *fasthttp.Server) {
			s.ReadTimeout, s.WriteTimeout, s.IdleTimeout = time.Minute, time.Minute, time.Minute
		}, posts(20, 100), 40},
		{"bodies", read, nil, posts(20, 1, 100, 5000, 70000, 1<<20), 40},
		{"streamed bodies", read, func(s *fasthttp.Server) { s.StreamRequestBody = true }, posts(20, 1, 5000, 300000), 40},
		{"chunked bodies", read, nil, func(v *live) {
			sizes := []int{0, 1, 5000, 300000}
			closedLoop(v.t, 2, 20, func(c *http.Client, i int) error { return post(c, v.url(), opaque{body(sizes[i%len(sizes)])}) })
		}, 40},
		{"continue", read, nil, func(v *live) {
			for range 5 {
				conn, err := net.Dial("tcp", v.addr)
				if err != nil {
					v.t.Fatal(err)
				}
				r := bufio.NewReader(conn)
				io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
				if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != http.StatusContinue {
					v.t.Fatalf("%v, %v", resp, err)
				}
				io.WriteString(conn, "abc")
				if _, err := http.ReadResponse(r, nil); err != nil {
					v.t.Fatal(err)
				}
				conn.Close()
			}
		}, 5},
		{"header in pieces", answer, nil, func(v *live) {
			raw(v, 2, "GE", "T / HTTP/1.1\r\nHo", "st: x\r\n", "\r\nGET / HT", "TP/1.1\r\nHost: x\r\n\r\n")
		}, 2},
		{"body in pieces", read, nil, func(v *live) {
			raw(v, 1, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", "abc", "def", "ghi")
		}, 1},
		{"streamed response", func(ctx *fasthttp.RequestCtx) {
			ctx.SetBodyStreamWriter(func(w *bufio.Writer) {
				for range 20 {
					w.Write(make([]byte, 1000))
					w.Flush()
				}
			})
		}, nil, func(v *live) {
			closedLoop(v.t, 2, 10, func(c *http.Client, i int) error { return get(c, v.url()) })
		}, 20},
		{"wrapped handler", fasthttp.CompressHandler(answer), nil, func(v *live) {
			closedLoop(v.t, 2, 20, func(c *http.Client, i int) error { return get(c, v.url()) })
		}, 40},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, l := listen(t)
			s := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) { v.witness.run(func() { test.handler(ctx) }) }, Logger: quiet()}
			if test.setup != nil {
				test.setup(s)
			}
			go func() { v.done <- s.Serve(l) }()
			a, lines := v.dissect(v.traced(func() {
				test.load(v)
				shut(t, s.ShutdownWithContext)
				<-v.done
			}))
			if a.Requests != test.want || a.Cut != 0 {
				t.Errorf("found %d requests of %d, %d cut", a.Requests, test.want, a.Cut)
			}
			v.matchHandlers(lines)
		})
	}
}

// TestFastHTTPPipelining documents what the trace of fasthttp does not show: where each
// of several requests that came in one read ends. An event that happens to fall into the
// reading of one of them reveals it; either way none of their time is lost.
func TestFastHTTPPipelining(t *testing.T) {
	v, l := listen(t)
	s := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) { v.witness.run(func() { time.Sleep(time.Millisecond) }) }}
	go func() { v.done <- s.Serve(l) }()
	a, _ := v.dissect(v.traced(func() {
		raw(v, 8, strings.Repeat(bare, 8))
		shut(t, s.ShutdownWithContext)
		<-v.done
	}))
	if a.Requests < 1 || a.Requests >= 8 || time.Duration(a.Requests)*a.MeanNS < 8*time.Millisecond {
		t.Errorf("%d requests of mean %v for 8 pipelined", a.Requests, a.MeanNS)
	}
}
