package journal

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func entry() *Entry {
	return &Entry{
		Time: time.Unix(0, 0), RequestID: "request-1", Method: "GET", Path: "/api/v1/order", UserID: 7, Remote: "127.0.0.1",
		Status: 200, Bytes: 9, Took: 1500 * time.Microsecond,
		Header: http.Header{"Authorization": {"Bearer sesame"}, "Accept": {"*/*"}}, Body: []byte(`{"a":1}`),
	}
}

func TestJournals(t *testing.T) {
	for name, c := range map[string]struct {
		async bool
		lines int
		want  string
	}{
		"synchronous":  {false, 4, `response body "{\"a\":1}"`},
		"asynchronous": {true, 1, "1970-01-01T00:00:00.000Z id=request-1 GET /api/v1/order user=7 status=200 bytes=9 took_us=1500"},
	} {
		dir := t.TempDir()
		j, err := Open(dir, c.async)
		if err != nil {
			t.Fatal(err)
		}
		if Verbose(j) == c.async {
			t.Errorf("%s: verbose is %v", name, Verbose(j))
		}
		j.Request(entry())
		if err := j.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "gateway.log"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n != c.lines || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %d lines, want %d with %s:\n%s", name, n, c.lines, c.want, text)
		}
		if strings.Contains(string(text), "sesame") {
			t.Errorf("%s: the token was logged:\n%s", name, text)
		}
	}
}

func TestFullQueueDropsAndCounts(t *testing.T) {
	a := &asynchronous{queue: make(chan line, 2)} // nobody writes
	for range 5 {
		a.Request(entry())
	}
	if a.Dropped() != 3 {
		t.Errorf("dropped %d, want 3", a.Dropped())
	}
}
