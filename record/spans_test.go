package record

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestSpans(t *testing.T) {
	w := create(t)
	span := TraceSpan{
		Trace: strings.Repeat("ab", 16), ID: strings.Repeat("cd", 8), Service: "shop", Name: "GET /orders", Kind: "server",
		From: 5, To: 9, Status: "error", Attributes: map[string]string{"http.route": "/orders"},
	}
	must(t, w.Spans(TraceSpan{ID: "x"}))
	must(t, w.Spans(span, TraceSpan{Trace: span.Trace, ID: "1", Parent: span.ID, Statement: "k"}))
	must(t, w.Slow(SlowRequest{ID: 7, TraceID: span.Trace}))
	must(t, w.Close(Complete, ""))
	if err := w.Spans(span); err == nil {
		t.Error("a closed bundle takes spans")
	}
	r, err := Open(w.Dir())
	must(t, err)
	spans, err := r.Spans()
	must(t, err)
	if len(spans) != 2 || !reflect.DeepEqual(spans[0], span) {
		t.Errorf("spans %+v", spans)
	}
	if slow, err := r.SlowRequests(); err != nil || slow[0].TraceID != span.Trace {
		t.Errorf("slow requests %v, %v", slow, err)
	}
}

func TestSpansAreBounded(t *testing.T) {
	w := create(t)
	long := TraceSpan{Name: strings.Repeat("n", MaxSpans/4)}
	if err := w.Spans(long, long, long, long, long); err == nil || !strings.Contains(err.Error(), "2 of 5") {
		t.Errorf("error %v", err)
	}
	if err := w.Close(Complete, ""); err == nil {
		t.Error("Close returns no error")
	}
	r, err := Open(w.Dir())
	must(t, err)
	if spans, err := r.Spans(); err != nil || len(spans) != 3 {
		t.Errorf("%d spans, %v", len(spans), err)
	}
}

func TestHostileSpans(t *testing.T) {
	dir := finished(t)
	r, err := Open(dir)
	must(t, err)
	if spans, err := r.Spans(); spans != nil || err != nil {
		t.Errorf("%v, %v without a file", spans, err)
	}
	path := filepath.Join(dir, spansFile)
	must(t, os.WriteFile(path, []byte("{}\n{\"name\":"), 0o644))
	if _, err := r.Spans(); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v", err)
	}
	must(t, os.Truncate(path, MaxSpans+1))
	if _, err := r.Spans(); err == nil {
		t.Error("a file over the bound is read")
	}
}
