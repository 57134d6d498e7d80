package serving_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// listen opens a listener on loopback that ends with the test.
func listen(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

// serve runs a server of net/http until the test ends, and returns its address.
func serve(tb testing.TB, server *http.Server) string {
	tb.Helper()
	l := listen(tb)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	tb.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return l.Addr().String()
}

// body is an answer of 1.2 KB.
var body = bytes.Repeat([]byte("0123456789abcdef"), 75)

func answer(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }

// wire is a client that keeps its connection and costs next to nothing, so that the server
// is what is measured: after the first answer it knows how long the next ones are.
type wire struct {
	conn    net.Conn
	request []byte
	want    []byte // body
	buf     []byte // of an answer's length
}

// connect makes a client of path and sends its first request.
func connect(tb testing.TB, addr, path string, want []byte) *wire {
	tb.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	w := &wire{conn: conn, request: fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: lab\r\n\r\n", path), want: want}
	if _, err := conn.Write(w.request); err != nil {
		tb.Fatal(err)
	}
	var raw bytes.Buffer
	resp, err := http.ReadResponse(bufio.NewReader(io.TeeReader(conn, &raw)), nil)
	if err != nil {
		tb.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !bytes.Equal(got, want) {
		tb.Fatalf("%s: %s, %v: %.100q", path, resp.Status, err, got)
	}
	w.buf = make([]byte, raw.Len())
	return w
}

var errBody = errors.New("another body")

// get sends a request and compares the answer.
func (w *wire) get() error {
	if _, err := w.conn.Write(w.request); err != nil {
		return err
	}
	if _, err := io.ReadFull(w.conn, w.buf); err != nil {
		return err
	}
	if !bytes.HasSuffix(w.buf, w.want) {
		return errBody
	}
	return nil
}

// wires makes so many clients of a path.
func wires(tb testing.TB, n int, addr, path string, want []byte) []func() error {
	tb.Helper()
	all := make([]func() error, n)
	for i := range all {
		all[i] = connect(tb, addr, path, want).get
	}
	return all
}

// together makes b.N requests on all clients at once, each as soon as its last is
// answered, and reports the 99th percentile of their times.
func together(b *testing.B, clients []func() error) {
	b.Helper()
	var sent atomic.Int64
	var mu sync.Mutex
	var times []time.Duration
	b.ResetTimer()
	var all sync.WaitGroup
	for _, request := range clients {
		all.Go(func() {
			var own []time.Duration
			for sent.Add(1) <= int64(b.N) {
				begun := time.Now()
				if err := request(); err != nil {
					b.Error(err)
					return
				}
				own = append(own, time.Since(begun))
			}
			mu.Lock()
			times = append(times, own...)
			mu.Unlock()
		})
	}
	all.Wait()
	b.StopTimer()
	reportP99(b, times)
}

// reportP99 reports the 99th percentile.
func reportP99(b *testing.B, times []time.Duration) {
	b.Helper()
	if len(times) == 0 {
		b.Fatal("no request was answered")
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[(len(times)*99)/100]), "p99-ns/op")
}
