package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

func TestFromURL(t *testing.T) {
	p, err := FromURL("http://127.0.0.1:8080/x?y=1", Flags{Connections: 8, Duration: time.Minute, Headers: []string{"A: b"}, Body: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	r := p.Requests[0]
	if p.Load.Connections != 8 || p.Load.Open() || p.Load.Warmup != DefaultWarmup || p.Load.Duration != time.Minute ||
		r.Method != "POST" || r.Name != "POST /x" || r.Headers["A"] != "b" || p.Name != "127.0.0.1" {
		t.Errorf("%+v", p)
	}
	for name, bad := range map[string]Flags{
		"rate": {Rate: "x"}, "connections": {Connections: -1}, "duration": {Duration: -1}, "header": {Headers: []string{"no"}},
		"smuggled": {Headers: []string{"A: b\r\nC: d"}}, "framing": {Headers: []string{"content-length: 3"}}, "method": {Method: "A B"},
		"two targets": {Exec: "x", PID: 3}, "args": {Args: []string{"x"}},
		"threshold": {Thresholds: []string{"p99"}}, "place": {Body: "{{x}}"},
		"too long": {Duration: 48 * time.Hour},
	} {
		if p, err := FromURL("http://127.0.0.1/", bad); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, bad := range []string{"", "127.0.0.1:80", "ftp://x/", "http://", "http://h:99999/", "http://h/a b"} {
		if _, err := FromURL(bad, Flags{}); err == nil {
			t.Errorf("%q is a URL", bad)
		}
	}
}

func TestFromURLSchemes(t *testing.T) {
	for target, c := range map[string]struct {
		flags    Flags
		protocol protocol.Name
		name     string
		body     feeder.Template
	}{
		"https://h/x":         {Flags{Follow: true}, protocol.HTTP1, "GET /x", ""},
		"http://h/x":          {Flags{HTTP2: true, Body: "b"}, protocol.HTTP2, "POST /x", "b"},
		"grpc://h:1/a.B/C":    {Flags{Body: `{"n": 1}`}, protocol.RPC, "a.B/C", `{"n": 1}`},
		"grpcs://h:1/a.B/C":   {Flags{Insecure: true}, protocol.RPC, "a.B/C", "{}"},
		"ws://h/feed":         {Flags{Body: "hi"}, protocol.WebSocket, "WS /feed", "hi"},
		"tcp://127.0.0.1:700": {Flags{Body: "hi\n"}, protocol.TCP, "TCP 127.0.0.1:700", "hi\n"},
	} {
		p, err := FromURL(target, c.flags)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		r := p.Requests[0]
		if p.Protocol != c.protocol || r.Name != c.name || r.Body != c.body || r.Follow != c.flags.Follow {
			t.Errorf("%s: %s %+v", target, p.Protocol, r)
		}
	}
	for target, flags := range map[string]Flags{
		"grpc://h:1/a.B/D": {Method: "PUT"}, "grpc://h:1/a.B/E": {HTTP2: true}, "grpc://h:1/a.B/F": {Follow: true}, "ws://h/feed": {},
		"tcp://h": {Body: "x"}, "tcp://h:1/x": {Body: "x"}, "http://h": {Speed: 2}, "grpc://h:1/a.B/C": {Body: "x"},
	} {
		if p, err := FromURL(target, flags); err == nil {
			t.Errorf("%s: %+v", target, p)
		}
	}
}

// TestBodyFromFile: a body may be in a file; what the record could not keep, or is too large, is refused.
func TestBodyFromFile(t *testing.T) {
	write := func(data string) string {
		name := filepath.Join(t.TempDir(), "body")
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return "@" + name
	}
	p, err := FromURL("http://h/x", Flags{Body: write("a\n@b")})
	if err != nil || p.Requests[0].Body != "a\n@b" || p.Requests[0].Method != "POST" {
		t.Errorf("%+v, %v", p, err)
	}
	for want, body := range map[string]string{"no such file": "@" + filepath.Join(t.TempDir(), "none"), "no UTF-8": write("\xff"),
		"is over": write(strings.Repeat("x", maxBody+1)), "needs data": write("{{x}}"), "regular file": "@" + t.TempDir()} {
		if p, err := FromURL("http://h/x", Flags{Body: body}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v, %v", want, p, err)
		}
	}
}
