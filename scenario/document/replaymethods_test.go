package document

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
)

const writesLog = `{"time": 1, "path": "/a"}
{"time": 2, "path": "/a", "method": "HEAD"}
{"time": 3, "path": "/a", "method": "OPTIONS"}
{"time": 4, "path": "/orders", "method": "POST", "body": "x"}
{"time": 5, "path": "/orders", "method": "POST", "body": "x"}
{"time": 6, "path": "/orders/1", "method": "PUT"}
{"time": 7, "path": "/orders/1", "method": "PATCH"}
{"time": 8, "path": "/orders/1", "method": "DELETE"}
{"time": 9, "path": "/orders/1", "method": "PURGE"}
{"time": 10, "path": "/orders/2", "headers": {"x-http-method-override": "delete"}}
`

func logFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// methodsOf counts the requests that a plan's replay sends.
func methodsOf(p *scenario.Plan) map[string]int {
	counts := map[string]int{}
	for _, i := range p.Load.Replay.Request {
		counts[p.Requests[i].Method]++
	}
	return counts
}

// TestReplaySendsNoWritesUnasked replays a log of all methods without naming any.
func TestReplaySendsNoWritesUnasked(t *testing.T) {
	p, err := scenario.FromURL("http://127.0.0.1:8080", scenario.Flags{Replay: logFile(t, writesLog)})
	if err != nil {
		t.Fatal(err)
	}
	if got := methodsOf(p); len(got) != 3 || got["GET"] != 1 || got["HEAD"] != 1 || got["OPTIONS"] != 1 {
		t.Errorf("sent %v", got)
	}
	warned := strings.Join(p.Warnings, "\n")
	for _, part := range []string{"7 of its 10 requests", "2 DELETE, 1 PATCH, 2 POST, 1 PURGE, 1 PUT", "--replay-methods"} {
		if !strings.Contains(warned, part) {
			t.Errorf("%q is not in the warnings: %q", part, p.Warnings)
		}
	}
	if p.Load.Replay.Writes != "" {
		t.Errorf("it says that it sends %s", p.Load.Replay.Writes)
	}
}

// TestReplaySendsNamedWrites names methods, on the command line and in a file.
func TestReplaySendsNamedWrites(t *testing.T) {
	p, err := scenario.FromURL("http://127.0.0.1:8080", scenario.Flags{Replay: logFile(t, writesLog),
		ReplayMethods: []string{"get", "POST"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := methodsOf(p); len(got) != 2 || got["GET"] != 1 || got["POST"] != 2 {
		t.Errorf("sent %v", got)
	}
	if p.Load.Replay.Writes != "2 POST" {
		t.Errorf("it says that it sends %q", p.Load.Replay.Writes)
	}
	warned := strings.Join(p.Warnings, "\n")
	for _, part := range []string{"7 of its 10 requests", "2 DELETE", "1 HEAD", "sends writes of log.jsonl: 2 POST"} {
		if !strings.Contains(warned, part) {
			t.Errorf("%q is not in the warnings: %q", part, p.Warnings)
		}
	}
	files := testFiles(t)
	named, err := parse(files, "f.yaml", []byte("load: {replay: {file: access.log, base: 'http://127.0.0.1', methods: [POST]}}"), wholeEnv)
	if err != nil {
		t.Fatal(err)
	}
	if got := methodsOf(named); len(got) != 1 || got["POST"] != 1 || named.Load.Replay.Writes != "1 POST" {
		t.Errorf("sent %v, and says %q", got, named.Load.Replay.Writes)
	}
}

// TestReplayMethodsThatFit: a log of writes alone, and methods that are none.
func TestReplayMethodsThatFit(t *testing.T) {
	writes := logFile(t, `{"time": 4, "path": "/orders", "method": "POST"}`+"\n")
	for want, f := range map[string]scenario.Flags{
		"1 POST":             {Replay: writes},
		"--replay-methods: ": {Replay: writes, ReplayMethods: []string{"G T"}},
		"is for a replay":    {ReplayMethods: []string{"GET"}},
		"names: 1 POST":      {Replay: writes, ReplayMethods: []string{"GET"}},
	} {
		if _, err := scenario.FromURL("http://127.0.0.1:8080", f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
