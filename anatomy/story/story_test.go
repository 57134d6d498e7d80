package story

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/statement"
	"github.com/redline-go/redline/record/timebase"
)

const ms = time.Millisecond

// bundle writes a record with three slow requests: one was not traced, one has these
// spans, and of one none was received.
func bundle(t *testing.T, spans ...record.TraceSpan) *record.Record {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(filepath.Join(t.TempDir(), "b"), record.Run{Clock: clock, Window: 100 * ms})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		w.Slow(record.SlowRequest{Sent: 0, Done: 500 * ms, ID: 1},
			record.SlowRequest{Sent: 10 * ms, Done: 120 * ms, ID: 2, TraceID: "t"},
			record.SlowRequest{Sent: 10 * ms, Done: 20 * ms, ID: 3, TraceID: "not received"}),
		disk.WriteJSON(w.Dir(), database.File, database.Statements{Statements: []database.Statement{
			{QueryID: "7", Text: "SELECT * FROM orders WHERE id = ANY ($1)", Time: 1},
			{QueryID: "8", Text: "SELECT * FROM orders WHERE id IN ($1, $2)", Time: 2},
			{QueryID: "9", Text: "SELECT * FROM orders WHERE id IN ($1)", Time: 9},
		}}),
		w.Spans(spans...),
		w.Close(record.Complete, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	rec, err := record.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func span(id, parent string, from, to time.Duration) record.TraceSpan {
	return record.TraceSpan{Trace: "t", ID: id, Parent: parent, Name: id, From: from * ms, To: to * ms}
}

func TestDescribe(t *testing.T) {
	query := span("query", "handler", 40, 90)
	query.Statement = statement.Key("select * from orders where id in (1, 2, 3)")
	other := span("other", "", 0, 1)
	other.Trace = "u"
	rec := bundle(t, query, span("handler", "entry", 30, 100), span("side", "handler", 80, 95), span("late", "handler", 99, 130),
		span("entry", "request", 20, 110), span("query", "handler", 40, 90), span("lost", "gone", 50, 60), other)
	stories, err := Describe(rec, 5)
	if err != nil || len(stories) != 1 {
		t.Fatalf("%d stories, %v", len(stories), err)
	}
	s := stories[0]
	selfs := map[string]time.Duration{}
	var order []string
	s.Each(func(n *Node) { selfs[n.ID] = n.Self; order = append(order, n.ID) })
	want := map[string]time.Duration{"entry": 20 * ms, "handler": 14 * ms, "query": 50 * ms, "side": 15 * ms,
		"late": 31 * ms, "lost": 10 * ms}
	if !reflect.DeepEqual(selfs, want) {
		t.Errorf("times of their own %v, want %v", selfs, want)
	}
	if got := strings.Join(order, " "); got != "entry handler query side late lost" {
		t.Errorf("order %q", got)
	}
	if s.Request.ID != 2 || s.Spans != 6 || s.Missing != 1 || len(s.Roots) != 2 {
		t.Errorf("%+v", s)
	}
	if n := s.Longest(); n.ID != "query" || n.QueryID != "9" {
		t.Errorf("the longest is %s of query %q", n.ID, n.QueryID)
	}
	if n := s.Of(query.Statement); n == nil || n.ID != "query" || s.Of("") != nil || s.Of("x") != nil {
		t.Errorf("the statement's span is %v", n)
	}
}

// TestBrokenSpans: spans from elsewhere may be each other's parents, or their own.
func TestBrokenSpans(t *testing.T) {
	rec := bundle(t, span("a", "b", 0, 1), span("b", "a", 0, 1), span("c", "c", 5, 3), span("d", "c", 0, 9))
	stories, err := Describe(rec, 1)
	if err != nil || len(stories) != 1 {
		t.Fatalf("%d stories, %v", len(stories), err)
	}
	if s := stories[0]; s.Spans != 2 || s.Roots[0].ID != "c" || s.Roots[0].Self != 0 {
		t.Errorf("%+v", s)
	}
}

func TestNothingToTell(t *testing.T) {
	if stories, err := Describe(bundle(t), 5); stories != nil || err != nil {
		t.Errorf("%v, %v", stories, err)
	}
}
