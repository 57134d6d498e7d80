package anatomy_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// ok reads the body and answers.
func ok(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	fmt.Fprintln(w, "read", n)
}

// deaf answers without reading the body.
func deaf(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") }

// raw writes a request stream on a connection of its own and reads n responses.
func raw(v *live, n int, stream ...string) {
	conn, err := net.Dial("tcp", v.addr)
	if err != nil {
		v.t.Error(err)
		return
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	sent := 0
	for i, s := range stream {
		if _, err := io.WriteString(conn, s); err != nil {
			v.t.Error(err)
			return
		}
		sent += len(s)
		// A piece that ends a header goes with the next one. The others arrive apart.
		if i < len(stream)-1 && !strings.HasSuffix(s, "\r\n\r\n") {
			v.reads.awaitReader(v.t, conn.LocalAddr(), sent)
		}
	}
	for i := range n {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			v.t.Errorf("response %d of %d: %v", i+1, n, err)
			return
		}
		io.Copy(io.Discard, resp.Body)
	}
}

func post(c *http.Client, url string, body io.Reader, headers ...string) error {
	req, err := http.NewRequest("POST", url, body)
	if err != nil {
		return err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return err
}

// opaque hides a reader's length, so that the client sends it chunked.
type opaque struct{ io.Reader }

const bare = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// TestBoundaries serves requests of every shape that changes what net/http does
// around a handler, and asserts that each is found: no more, no fewer, each
// holding the handler's own run.
func TestBoundaries(t *testing.T) {
	body := func(n int) *bytes.Reader { return bytes.NewReader(make([]byte, n)) }
	tests := []struct {
		name    string
		handler http.HandlerFunc
		setup   func(*http.Server)
		load    func(v *live)
		want    int
	}{
		{"keep-alive", deaf, nil, func(v *live) {
			closedLoop(v.t, 4, 50, func(c *http.Client, i int) error { return get(c, v.url()) })
		}, 200},
		{"client closes", deaf, nil, func(v *live) {
			closedLoop(v.t, 2, 10, func(c *http.Client, i int) error {
				req, _ := http.NewRequest("GET", v.url(), nil)
				req.Close = true
				resp, err := c.Do(req)
				if err == nil {
					resp.Body.Close()
				}
				return err
			})
		}, 20},
		{"server closes", deaf, func(s *http.Server) { s.SetKeepAlivesEnabled(false) }, func(v *live) {
			closedLoop(v.t, 2, 10, func(c *http.Client, i int) error { return get(c, v.url()) })
		}, 20},
		{"timeouts", ok, func(s *http.Server) {
			s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout = time.Minute, time.Minute, time.Minute, time.Minute
		}, func(v *live) {
			closedLoop(v.t, 2, 20, func(c *http.Client, i int) error { return post(c, v.url(), body(100)) })
		}, 40},
		{"bodies", ok, nil, func(v *live) {
			sizes := []int{1, 100, 5000, 70000, 1 << 20}
			closedLoop(v.t, 2, 20, func(c *http.Client, i int) error { return post(c, v.url(), body(sizes[i%len(sizes)])) })
		}, 40},
		{"chunked bodies", ok, nil, func(v *live) {
			sizes := []int{0, 1, 5000, 300000}
			closedLoop(v.t, 2, 20, func(c *http.Client, i int) error { return post(c, v.url(), opaque{body(sizes[i%len(sizes)])}) })
		}, 40},
		{"unread bodies", deaf, nil, func(v *live) {
			sizes := []int{1, 5000, 200000}
			closedLoop(v.t, 2, 15, func(c *http.Client, i int) error { return post(c, v.url(), body(sizes[i%len(sizes)])) })
		}, 30},
		{"unread body too large", deaf, nil, func(v *live) {
			raw(v, 1, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n")
		}, 1},
		{"continue, read", ok, nil, func(v *live) {
			closedLoop(v.t, 1, 10, func(c *http.Client, i int) error { return post(c, v.url(), body(3000), "Expect", "100-continue") })
		}, 10},
		{"continue, unread", deaf, nil, func(v *live) {
			for range 5 {
				raw(v, 1, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n")
			}
		}, 5},
		{"expectation failed", deaf, nil, func(v *live) {
			raw(v, 1, "POST / HTTP/1.1\r\nHost: x\r\nExpect: coffee\r\nContent-Length: 0\r\n\r\n")
		}, 1},
		{"pipelined", deaf, nil, func(v *live) { raw(v, 20, strings.Repeat(bare, 20)) }, 20},
		{"pipelined behind the handler's back", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(5 * time.Millisecond) // the others arrive meanwhile
			fmt.Fprintln(w, "slow")
		}, nil, func(v *live) { raw(v, 10, bare[:len(bare)-2], "\r\n", strings.Repeat(bare, 9)) }, 10},
		{"pipelined bodies", ok, nil, func(v *live) {
			raw(v, 20, strings.Repeat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 20))
		}, 20},
		{"header in pieces", deaf, nil, func(v *live) {
			raw(v, 2, "GE", "T / HTTP/1.1\r\nHo", "st: x\r\n", "\r\nGET / HT", "TP/1.1\r\nHost: x\r\n\r\n")
		}, 2},
		{"body in pieces", ok, nil, func(v *live) {
			raw(v, 1, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", "abc", "def", "ghi")
		}, 1},
		{"HTTP/1.0", deaf, nil, func(v *live) { raw(v, 1, "GET / HTTP/1.0\r\n\r\n") }, 1},
		{"HTTP/1.0 keep-alive", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "2")
			io.WriteString(w, "ok")
		}, nil, func(v *live) { raw(v, 3, strings.Repeat("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 3)) }, 3},
		{"no content", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) }, nil, func(v *live) {
			closedLoop(v.t, 2, 10, func(c *http.Client, i int) error { return get(c, v.url()) })
		}, 20},
		{"handler flushes all", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "2")
			io.WriteString(w, "ok")
			w.(http.Flusher).Flush()
		}, nil, func(v *live) {
			closedLoop(v.t, 2, 20, func(c *http.Client, i int) error { return get(c, v.url()) })
		}, 40},
		{"large response", func(w http.ResponseWriter, r *http.Request) {
			chunk := make([]byte, 32<<10)
			for range 100 {
				w.Write(chunk)
			}
		}, nil, func(v *live) {
			closedLoop(v.t, 2, 5, func(c *http.Client, i int) error { return get(c, v.url()) })
		}, 10},
		{"panic", func(w http.ResponseWriter, r *http.Request) { panic("on purpose") }, nil, func(v *live) {
			closedLoop(v.t, 1, 5, func(c *http.Client, i int) error {
				if get(c, v.url()) == nil {
					return errors.New("a panic answered")
				}
				return nil
			})
		}, 5},
		{"aborted", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, nil, func(v *live) {
			closedLoop(v.t, 1, 5, func(c *http.Client, i int) error { get(c, v.url()); return nil })
		}, 5},
		{"client gone", func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			fmt.Fprintln(w, "too late")
		}, nil, func(v *live) {
			for range 5 {
				raw(v, 0, bare)
			}
			v.await(5)
		}, 5},
		{"not HTTP", deaf, nil, func(v *live) {
			raw(v, 1, "nonsense\r\n\r\n")
			raw(v, 1, "GET / HTTP/9.9\r\n\r\n")
			raw(v, 0, "")
		}, 0},
		{"full duplex", func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).EnableFullDuplex()
			fmt.Fprintln(w, "early")
			w.(http.Flusher).Flush()
			io.Copy(w, r.Body)
		}, nil, func(v *live) {
			closedLoop(v.t, 1, 10, func(c *http.Client, i int) error { return post(c, v.url(), body(5000)) })
		}, 10},
		{"hooks", deaf, func(s *http.Server) {
			s.ConnState = func(net.Conn, http.ConnState) { time.Sleep(100 * time.Microsecond) }
		}, func(v *live) {
			closedLoop(v.t, 2, 10, func(c *http.Client, i int) error { return get(c, v.url()) })
		}, 20},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := serve(t, test.handler, test.setup)
			a, lines := v.dissect(v.capture(func() { test.load(v) }))
			if a.Requests != test.want || a.Cut != 0 || a.Merged != 0 {
				t.Errorf("found %d requests of %d, %d cut, %d merged, markers %+v", a.Requests, test.want, a.Cut, a.Merged, a.Markers)
			}
			if len(v.witness.seen) > 0 { // net/http itself answers some
				v.matchHandlers(lines)
			}
		})
	}
}

// TestMergedRequestsAreCounted serves requests that may leave no sign of their end: the
// client pipelines, and the handler flushes all of its response. What cannot be told
// apart must lower the coverage.
func TestMergedRequestsAreCounted(t *testing.T) {
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "2")
		io.WriteString(w, "ok")
		w.(http.Flusher).Flush()
	}, nil)
	a, _ := v.dissect(v.capture(func() {
		for range 20 {
			raw(v, 10, strings.Repeat(bare, 10))
		}
	}))
	if all := math.Round(float64(a.Requests) / a.Coverage); all != 200 || a.Requests < 100 || a.Cut != 0 {
		t.Errorf("%d found and a coverage of %v make %v requests of 200; %d merged, %d cut", a.Requests, a.Coverage, all, a.Merged, a.Cut)
	}
}

func TestHijackedConnectionsAreLeftOut(t *testing.T) {
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		rw.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		rw.Flush()
	}, nil)
	a, _ := v.dissect(v.capture(func() {
		for range 3 {
			raw(v, 1, bare)
		}
	}))
	if a.Hijacked != 3 || a.Requests != 0 || a.Cut != 0 {
		t.Errorf("%d hijacked, %d requests, %d cut; want 3, 0, 0", a.Hijacked, a.Requests, a.Cut)
	}
}

// TestTLS also covers a connection that buffers: the background reader may take a whole
// record, the next request, off the wire, and then only the flush shows that the first
// one ended.
func TestTLS(t *testing.T) {
	v := serve(t, deaf, func(s *http.Server) {
		certs := httptest.NewUnstartedServer(nil)
		certs.StartTLS()
		defer certs.Close()
		s.TLSConfig = &tls.Config{Certificates: certs.TLS.Certificates, NextProtos: []string{"http/1.1"}}
	})
	a, lines := v.dissect(v.capture(func() {
		tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		defer tr.CloseIdleConnections()
		c := &http.Client{Transport: tr}
		for range 10 {
			if err := get(c, "https://"+v.addr); err != nil {
				t.Error(err)
			}
		}
	}))
	if a.Requests != 10 || a.Cut != 0 {
		t.Errorf("found %d requests of 10, %d cut", a.Requests, a.Cut)
	}
	v.matchHandlers(lines)
}
