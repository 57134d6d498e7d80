package serving_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/lab/micro"
)

// headerTime is the limit on a request's header; the claim's are seconds.
const headerTime = 100 * time.Millisecond

// held is a server that counts the connections that it has open.
type held struct {
	addr string
	open atomic.Int64
}

func hold(tb testing.TB, server *http.Server) *held {
	tb.Helper()
	h := &held{}
	server.Handler = http.HandlerFunc(answer)
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			h.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			h.open.Add(-1)
		}
	}
	h.addr = serve(tb, server)
	return h
}

// crawl opens connections whose requests never come to the end of their header.
func (h *held) crawl(tb testing.TB, n int) []net.Conn {
	tb.Helper()
	all := make([]net.Conn, n)
	for i := range all {
		conn, err := net.Dial("tcp", h.addr)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: lab\r\nX-Slow: "); err != nil {
			tb.Fatal(err)
		}
		all[i] = conn
	}
	return all
}

// BenchmarkHeaderTimeout reports how many of 100 connections whose request never ends the
// server still holds after three times the limit.
func BenchmarkHeaderTimeout(b *testing.B) {
	h := hold(b, micro.Of(&http.Server{}, &http.Server{ReadHeaderTimeout: headerTime}))
	honest := connect(b, h.addr, "/", body)
	left := int64(0)
	for b.Loop() {
		slow := h.crawl(b, 100)
		time.Sleep(3 * headerTime)
		if err := honest.get(); err != nil {
			b.Fatal(err)
		}
		left += h.open.Load() - 1
		for _, conn := range slow {
			_ = conn.Close()
		}
		for h.open.Load() > 1 { // the next burst begins with none
			time.Sleep(time.Millisecond)
		}
	}
	b.ReportMetric(float64(left)/float64(b.N), "conns/op")
}

// TestTimeouts: a limit on the header cuts who never sends its end, and no one else; a
// limit on writing, the claim's 30 s, cuts whoever takes longer than that to be answered.
func TestTimeouts(t *testing.T) {
	h := hold(t, &http.Server{ReadHeaderTimeout: headerTime})
	for _, conn := range h.crawl(t, 10) {
		_, _ = io.Copy(io.Discard, conn) // returns once the server has closed it
	}
	patient := hold(t, &http.Server{ReadHeaderTimeout: time.Minute})
	patient.crawl(t, 10)
	if err := connect(t, patient.addr, "/", body).get(); err != nil {
		t.Errorf("an honest client beside slow ones: %v", err)
	}
	server := &http.Server{WriteTimeout: headerTime, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * headerTime)
		answer(w, r)
	})}
	conn, err := net.Dial("tcp", serve(t, server))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: lab\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
		t.Error("an answer after twice the limit on writing arrives")
	}
}
