package serving_test

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/redline-go/redline/lab/micro"
)

// longLived are the long connections of the grid, as in the claim. Both processes together take 1 GB for them.
const longLived = 16_000

// echoing serves WebSockets whose messages come back, each as change has it, and returns the addresses: several, because the
// kernel's search for a free port takes a third of the CPU where one address gets half of all ports.
func echoing(tb testing.TB, change func(int, []byte)) []string {
	tb.Helper()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for message := 0; ; message++ {
			kind, data, err := conn.Read(r.Context())
			if change != nil && err == nil {
				change(message, data)
			}
			if err != nil || conn.Write(r.Context(), kind, data) != nil {
				return
			}
		}
	})
	addrs := make([]string, 4)
	for i := range addrs {
		addrs[i] = serve(tb, &http.Server{ReadHeaderTimeout: time.Minute, Handler: handler})
	}
	return addrs
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
	all := newTalkers(b, echoing(b, nil), longLived)
	if err := all.round(); err != nil { // buffers and stacks grow
		b.Fatal(err)
	}
	for b.Loop() {
		if err := all.round(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGOMAXPROCS serves over the network at one P per CPU, or at the claim's 1.5.
func BenchmarkGOMAXPROCS(b *testing.B) {
	micro.Of(setting{gogc: 100}, setting{gogc: 100, procs: (3*runtime.NumCPU() + 1) / 2}).set(b)
	together(b, wires(b, clients, serveNetHTTP(b), "/", body))
}

// TestWebSockets: each message of each client comes back, and one that does not ends the round.
func TestWebSockets(t *testing.T) {
	all := newTalkers(t, echoing(t, func(message int, data []byte) {
		if message == 2 && data[0] == 'c' {
			data[255]++
		}
	}), 5)
	for range 2 {
		if err := all.round(); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.round(); err == nil || !strings.Contains(err.Error(), errBody.Error()) {
		t.Errorf("a changed echo: %v", err)
	}
}

// TestTooFewFiles: beyond what the process may open the experiment skips, with the command that would allow it.
func TestTooFewFiles(t *testing.T) {
	if err := allowFiles(1 << 40); err == nil || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("a million million connections: %v", err)
	}
}
