package document

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

const accessLogText = `127.0.0.1 - - [31/Jan/2026:08:00:01 +0000] "GET /b?x=1&y=a%20b HTTP/1.1" 200 12 "-" "curl/8.0"
127.0.0.1 - ann [31/Jan/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 12 "http://ref/" "agent \"x\""
127.0.0.1 - - [31/Jan/2026:08:00:01 +0000] "POST /orders HTTP/2.0" 201 0 "-" "-" "more" 0.003
127.0.0.1 - - [31/Jan/2026:09:00:01 +0100] "GET /a HTTP/1.1" 200 12 "-" "-"
127.0.0.1 - - [31/Jan/2026:08:00:01 +0000] "GET /caf\xC3\xA9?q=\x22 HTTP/1.1" 200 12 "-" "-"
`

const replayText = `
load: {replay: {file: access.log, base: "http://127.0.0.1:8080/v1/", speed: 2, methods: [GET, POST], headers: {Authorization: "Bearer {{token}}"}}}
data: {token: {rows: [t1, t2]}}
`

// rendered drives a plan's replay as the load does and returns what would be
// sent, and when.
func rendered(t *testing.T, p *scenario.Plan) (all []string) {
	t.Helper()
	type compiled struct{ url, body *feeder.Renderer }
	var requests []compiled
	for _, r := range p.Requests {
		u, err := feeder.CompileURL(r.URL, p.Data)
		if err != nil {
			t.Fatal(err)
		}
		b, err := feeder.CompileTemplate(r.Body, p.Data)
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, compiled{u, b})
	}
	c := p.NewCursor(7)
	l := p.Load.Replay
	for i, at := range l.At {
		c.Next()
		c.Seek(int(l.Row[i]))
		q := requests[l.Request[i]]
		all = append(all, strings.TrimSpace(fmt.Sprintf("%v %s %s %s", at, p.Requests[l.Request[i]].Method,
			q.url.Append(nil, c), q.body.Append(nil, c))))
	}
	return all
}

func TestReplay(t *testing.T) {
	p := mustPlan(t, replayText)
	want := []string{
		"0s GET http://127.0.0.1:8080/v1/a",
		"500ms GET http://127.0.0.1:8080/v1/b?x=1&y=a%20b",
		"625ms POST http://127.0.0.1:8080/v1/orders",
		"750ms GET http://127.0.0.1:8080/v1/a",
		"875ms GET http://127.0.0.1:8080/v1/caf%C3%A9?q=%22",
	}
	if got := rendered(t, p); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !p.Load.Open() || p.Load.Connections != scenario.DefaultCap || p.Load.Duration != time.Second ||
		len(p.Requests) != 2 || p.Requests[1].Name != "replay POST" {
		t.Errorf("%+v, %+v", p.Load, p.Requests)
	}
	if n := len(p.Data["replay"].Rows); n != 4 {
		t.Errorf("%d rows: equal requests share one", n)
	}
	if len(p.Warnings) != 2 || !strings.Contains(p.Warnings[0], "sends writes") ||
		!strings.Contains(p.Warnings[1], "access.log has no bodies for 1 of its 5 requests") {
		t.Errorf("warnings %q", p.Warnings)
	}
	if text := string(p.Redacted()); strings.Contains(text, "orders") || strings.Contains(text, "Bearer") ||
		!strings.Contains(text, `"file":"access.log"`) {
		t.Errorf("recorded: %s", text)
	}
}

func TestReplayLines(t *testing.T) {
	files := testFiles(t)
	files["log.jsonl"] = files["access.log"]
	fresh := *files["access.log"]
	fresh.Data = []byte(`{"time": 1767225600.25, "path": "/x", "headers": {"accept": "a", "Content-Length": 3, "X-Id": 7}}
{"time": "1767225600.5", "method": "put", "uri": "/y?z", "body": {"n": [1, 2]}}
{"time": "2026-01-01T00:00:00Z", "path": "/first#f"}
{"time": "2026-01-01T01:00:01.75+01:00", "path": "/x", "headers": {"X-Id": "8", "Accept": "a"}, "status": 200}
`)
	files["log.jsonl"] = &fresh
	p, err := parse(files, "f.yaml", []byte("load: {warmup: 1s, replay: {file: log.jsonl, base: 'http://h', methods: "+
		"[GET, PUT]}}"), wholeEnv)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0s GET http://h/first%23f", "250ms GET http://h/x", `500ms PUT http://h/y?z {"n":[1,2]}`, "1.75s GET http://h/x"}
	if got := rendered(t, p); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	var names []string
	for _, r := range p.Requests {
		names = append(names, r.Name)
	}
	if got := strings.Join(names, "; "); got != "replay GET; replay GET (Accept,X-Id); replay PUT with body" {
		t.Errorf("requests %s", got)
	}
	if h := p.Requests[1].Headers; h["X-Id"] != "{{replay.header X-Id}}" || len(h) != 2 {
		t.Errorf("headers %v", h)
	}
	// Sub-second times stand as they are, and the last request is within the load.
	if end := p.Load.Warmup + p.Load.Duration; p.Load.Replay.At[3] >= end {
		t.Errorf("the load ends at %v", end)
	}
}

func TestReplayFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(file, []byte(accessLogText), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := scenario.FromURL("http://127.0.0.1:8080", scenario.Flags{Replay: file,
		ReplayMethods: []string{"GET", "POST"}, Speed: 0.5, Headers: []string{"A: b"}, Connections: 9, HTTP2: true, Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	if l := p.Load; l.Replay == nil || l.Replay.At[1] != 2*time.Second || l.Connections != 9 || l.Warmup != 0 ||
		l.Duration < 3500*time.Millisecond || l.Duration > 4*time.Second {
		t.Errorf("%+v", l)
	}
	if r := p.Requests[0]; p.Protocol != protocol.HTTP2 || !r.Follow || r.Headers["A"] != "b" {
		t.Errorf("%+v", p)
	}
	for name, f := range map[string]scenario.Flags{
		"no file": {Replay: file + "x"}, "body": {Replay: file, Body: "x"}, "method": {Replay: file, Method: "PUT"},
		"rate":  {Replay: file, Rate: "3/s"},
		"speed": {Replay: file, Speed: -1}, "think": {Replay: file, Think: "1s"}, "folder": {Replay: filepath.Dir(file)},
	} {
		if _, err := scenario.FromURL("http://127.0.0.1:8080", f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, target := range []string{"ws://h/", "http://h/?x=1", "tcp://h:1"} {
		if _, err := scenario.FromURL(target, scenario.Flags{Replay: file}); err == nil {
			t.Errorf("%s: no error", target)
		}
	}
}

func TestSeek(t *testing.T) {
	p := mustPlan(t, replayText)
	path, err := feeder.CompileTemplate("{{replay.path}} {{token}}", p.Data)
	if err != nil {
		t.Fatal(err)
	}
	c, dst := p.NewCursor(1), make([]byte, 0, 256)
	c.Seek(2)
	first := string(path.Append(nil, c))
	c.Next()
	second := string(path.Append(nil, c))
	if !strings.HasPrefix(first, "orders ") || !strings.HasPrefix(second, "orders ") || first == second {
		t.Errorf("%s, %s: Next moves all feeders but the replay's", first, second)
	}
	if n := testing.AllocsPerRun(100, func() {
		c.Next()
		c.Seek(1)
		dst = path.Append(dst[:0], c)
	}); n != 0 {
		t.Errorf("%v allocations per request", n)
	}
	parseWhole(t).NewCursor(1).Seek(5) // without a replay it does nothing
}
