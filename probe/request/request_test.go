package request

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/trace"
	"strings"
	"sync/atomic"
	"testing"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestID(t *testing.T) {
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	trace := parent[3:35]
	tests := map[string]struct {
		header http.Header
		id     string
		ok     bool
	}{
		"none":             {header(), "", false},
		"redline's":        {header(Header, "42"), "42", true},
		"both":             {header(Header, "42", "traceparent", parent), "42", true},
		"sampled":          {header("traceparent", parent), trace, true},
		"flags 0b":         {header("traceparent", parent[:53]+"0b"), trace, true},
		"not sampled":      {header("traceparent", parent[:53]+"00"), trace, false},
		"a later version":  {header("traceparent", "01"+parent[2:]+"-more"), trace, true},
		"version ff":       {header("traceparent", "ff"+parent[2:]), "", false},
		"short":            {header("traceparent", parent[:54]), "", false},
		"long":             {header("traceparent", parent+"x"), "", false},
		"not hexadecimal":  {header("traceparent", strings.Replace(parent, "4bf9", "4bG9", 1)), "", false},
		"zero":             {header("traceparent", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"), "", false},
		"control and long": {header(Header, "a\tb\x1b"+strings.Repeat("x", 100)), "a_b_" + strings.Repeat("x", maxID-4), true},
	}
	for name, test := range tests {
		id, ok := ID(test.header)
		if ok != test.ok || ok && id != test.id {
			t.Errorf("%s: %q, %t, want %q, %t", name, id, ok, test.id, test.ok)
		}
	}
}

// TestRequestsAreTasks reads a real trace with the go command, because the probe's
// module has no reader of traces.
func TestRequestsAreTasks(t *testing.T) {
	var cuts atomic.Int64 // the client tries some of them again
	server := httptest.NewServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cut" {
			cuts.Add(1)
			panic(http.ErrAbortHandler)
		}
	})))
	defer server.Close()
	get := func(path, name, value string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(name, value)
		if response, err := server.Client().Do(r); err == nil {
			response.Body.Close()
		}
	}
	get("/", Header, "before")
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skipf("a trace is taken already: %v", err)
	}
	get("/", Header, "fortytwo")
	get("/cut", "traceparent", parent)
	get("/", "X-Other", "unmarked")
	trace.Stop()
	file := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command("go", "tool", "trace", "-d=parsed", file).CombinedOutput()
	if err != nil {
		t.Skipf("no go command to read traces: %v: %.200s", err, text)
	}
	count := func(what string) int { return strings.Count(string(text), what) }
	want := 1 + int(cuts.Load())
	if begun, ended := count("TaskBegin"), count("TaskEnd"); begun != want || ended != want {
		t.Errorf("%d tasks begin and %d end, want %d", begun, ended, want)
	}
	for _, id := range []string{"fortytwo", parent[3:35]} {
		if !strings.Contains(string(text), fmt.Sprintf("Category=%q Message=%q", Category, id)) {
			t.Errorf("no log of the id %s", id)
		}
	}
	for _, id := range []string{"before", "unmarked"} {
		if strings.Contains(string(text), `"`+id+`"`) {
			t.Errorf("%s is marked", id)
		}
	}
}

func TestUnmarkedRequestsCostNothing(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("a trace is taken")
	}
	h := Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set(Header, "42")
	w := httptest.NewRecorder()
	if n := testing.AllocsPerRun(100, func() {
		h.ServeHTTP(w, r)
		_, end := Begin(context.Background(), "42")
		end()
	}); n != 0 {
		t.Errorf("%v allocations while no trace is taken", n)
	}
}

func FuzzID(f *testing.F) {
	f.Add("42", parent)
	f.Add("", parent+"-more")
	f.Add("", "00-zz")
	f.Fuzz(func(t *testing.T, own, parent string) {
		id, ok := ID(http.Header{Header: {own}, "Traceparent": {parent}})
		if ok && (id == "" || len(id) > maxID || strings.ContainsAny(id, " \n\x1b\x7f")) {
			t.Fatalf("%q", id)
		}
	})
}
