package serving_test

import (
	"bytes"
	"context"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/coder/websocket" // a WebSocket that is kept, and redline's own

	"github.com/redline-go/redline/lab/micro"
)

// longLived are the long connections of the grid; the claim had 16,000 on more cores.
const longLived = 500

// talk opens WebSockets to a server that echoes, and returns a caller for each.
func talk(tb testing.TB, n int) []func() error {
	tb.Helper()
	addr := serve(tb, &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for {
			kind, data, err := conn.Read(r.Context())
			if err != nil || conn.Write(r.Context(), kind, data) != nil {
				return
			}
		}
	})})
	callers := make([]func() error, n)
	for i := range callers {
		conn, _, err := websocket.Dial(tb.Context(), "ws://"+addr, nil)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = conn.CloseNow() })
		want := bytes.Repeat([]byte{byte('a' + i%26)}, 256)
		callers[i] = func() error {
			if err := conn.Write(context.Background(), websocket.MessageBinary, want); err != nil {
				return err
			}
			_, got, err := conn.Read(context.Background())
			if err == nil && !bytes.Equal(got, want) {
				err = errBody
			}
			return err
		}
	}
	return callers
}

// The grid of GOMAXPROCS and GOGC: each benchmark leaves one at its default and moves the
// other, and the last one moves both.
func BenchmarkWebSocketGOGC(b *testing.B) {
	grid(b, micro.Of(setting{gogc: 100}, setting{gogc: 400}))
}

func BenchmarkWebSocketProcs(b *testing.B) {
	grid(b, micro.Of(setting{gogc: 100}, setting{gogc: 100, procs: 2 * runtime.NumCPU()}))
}

func BenchmarkWebSocketBoth(b *testing.B) {
	grid(b, micro.Of(setting{gogc: 100}, setting{gogc: 400, procs: 2 * runtime.NumCPU()}))
}

func grid(b *testing.B, s setting) {
	s.set(b)
	callers := talk(b, longLived)
	ended := make(chan error, len(callers))
	for b.Loop() { // a message over each
		for _, call := range callers {
			go func() { ended <- call() }()
		}
		for range callers {
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkGOMAXPROCS serves over the network at one P per CPU, or at the claim's 1.5.
func BenchmarkGOMAXPROCS(b *testing.B) {
	micro.Of(setting{gogc: 100}, setting{gogc: 100, procs: (3*runtime.NumCPU() + 1) / 2}).set(b)
	together(b, wires(b, clients, serveNetHTTP(b), "/", body))
}

func TestWebSockets(t *testing.T) {
	for _, call := range talk(t, 5) {
		for range 2 {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
