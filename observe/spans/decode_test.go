package spans

import (
	"reflect"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/redline-go/redline/record/statement"
)

func newBatch() *batch {
	return &batch{admit: func([]byte) bool { return true }, texts: texts{}, shapes: shapes{}}
}

// rich is an export with every field that is read and many that are not.
func rich() *collector.ExportTraceServiceRequest {
	at := time.Unix(1_800_000_000, 5)
	s := entry("GET /orders", true, 7, time.Millisecond, at,
		text("http.route", "/orders"), number("http.response.status_code", 503), text("http.method", "GET"),
		text("http.request.method", "POST"),
		text("http.request.header.authorization", "Bearer hunter2"), text("url.full", "http://h/?token=hunter2"),
		&common.KeyValue{Key: "code.line.number", Value: &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: 4}}},
		&common.KeyValue{Key: "db.operation", Value: &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: true}}},
		text("db.system", "postgresql"), text("db.statement", "SELECT * FROM users WHERE password = 'hunter2'"))
	s.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: "no"}
	s.Events = []*trace.Span_Event{{Name: "exception", Attributes: []*common.KeyValue{text("exception.message", "hunter2")}}}
	s.Links = []*trace.Span_Link{{TraceId: s.TraceId, SpanId: s.SpanId}}
	child := entry("query", true, 8, time.Microsecond, at)
	child.ParentSpanId, child.TraceState, child.Flags, child.Kind = s.SpanId, "a=b", 1, trace.Span_SPAN_KIND_CLIENT
	e := export("shop", s, child)
	e.ResourceSpans = append(e.ResourceSpans, export("other", entry("x", false, 9, 1, at)).ResourceSpans...)
	return e
}

// TestDecoders compares both decoders with the generated types.
func TestDecoders(t *testing.T) {
	e := rich()
	for name, decode := range map[string]func(*batch) error{
		"protobuf": func(b *batch) error { return decodeProtobuf(wire(t, e), b) },
		"json":     func(b *batch) error { return decodeJSON(otlpJSON(t, e), b) },
	} {
		b := newBatch()
		if err := decode(b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(b.spans) != 3 || b.all != 3 || b.invalid != 0 {
			t.Fatalf("%s: %+v", name, b)
		}
		s, child, other := b.spans[0], b.spans[1], b.spans[2]
		want := span{
			service: "shop", name: "GET /orders", kind: kindServer, status: statusError, message: "no",
			from: e.ResourceSpans[0].ScopeSpans[0].Spans[0].StartTimeUnixNano,
			to:   e.ResourceSpans[0].ScopeSpans[0].Spans[0].EndTimeUnixNano,
			attributes: []attribute{
				{"http.route", "/orders"}, {"http.response.status_code", "503"}, {"http.request.method", "GET"},
				{"db.operation.name", "true"}, {"db.system.name", "postgresql"}, {statementKey, "select * from users where password = ?"},
			},
			statement: statement.Key("select * from users where password = $1"),
		}
		traceID, spanID := ids(true, 7)
		want.ids(traceID, spanID, nil)
		if !reflect.DeepEqual(s, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, s, want)
		}
		if child.parent != s.id || child.entry() || !s.entry() || other.service != "other" {
			t.Errorf("%s: %+v, %+v", name, child, other)
		}
	}
}

func TestResourceMayFollowItsSpans(t *testing.T) {
	first := wire(t, &collector.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{{ScopeSpans: export("",
		entry("s", true, 1, 1, time.Unix(1, 0))).ResourceSpans[0].ScopeSpans}}})
	resource := wire(t, &trace.ResourceSpans{Resource: export("late").ResourceSpans[0].Resource})
	// The fields of one message may be split over two: here ResourceSpans is made
	// by hand, its spans first.
	inner := append(first[2:len(first):len(first)], resource...)
	if len(first)-2 > 127 || len(inner) > 127 {
		t.Fatal("the lengths do not fit a byte any more")
	}
	b := newBatch()
	if err := decodeProtobuf(append([]byte{first[0], byte(len(inner))}, inner...), b); err != nil ||
		len(b.spans) != 1 || b.spans[0].service != "late" {
		t.Errorf("%v, %+v", err, b.spans)
	}
	b = newBatch()
	text := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708","endTimeUnixNano":7,"kind":"2"}]}],
		"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"late"}}]}}, null]}`
	if err := decodeJSON([]byte(text), b); err != nil || len(b.spans) != 1 || b.spans[0].service != "late" ||
		b.spans[0].to != 7 || b.spans[0].kind != kindServer {
		t.Errorf("%v, %+v", err, b.spans)
	}
}

func TestInvalidSpansAreCounted(t *testing.T) {
	at := time.Unix(1, 0)
	zero, short, parent, long := entry("zero", true, 1, 1, at), entry("short", true, 2, 1, at),
		entry("parent", true, 3, 1, at), entry("long", true, 4, 1, at)
	zero.SpanId, short.TraceId, parent.ParentSpanId, long.TraceState = make([]byte, 8), []byte{1}, []byte{1}, strings.Repeat("x", maxSpan)
	e := export("s", zero, short, parent, long, entry("good", true, 5, 1, at))
	for name, decode := range map[string]func(*batch) error{
		"protobuf": func(b *batch) error { return decodeProtobuf(wire(t, e), b) },
		"json":     func(b *batch) error { return decodeJSON(otlpJSON(t, e), b) },
	} {
		b := newBatch()
		if err := decode(b); err != nil || b.invalid != 4 || b.all != 5 || len(b.spans) != 1 {
			t.Errorf("%s: %v, %d of %d invalid, %d spans", name, err, b.invalid, b.all, len(b.spans))
		}
	}
}

func TestStatementsOfOtherDatabases(t *testing.T) {
	for _, c := range []struct{ system, query, want string }{
		{"mysql", `SELECT * FROM t WHERE a = "hunter2"`, "select * from t where a = ?"},
		{"redis", "SET session:7 hunter2", "SET"},
		{"mongodb", `{"find": "users", "filter": {"password": "hunter2"}}`, ""},
		{"", "DELETE FROM t WHERE a = 'hunter2'", "delete from t where a = ?"},
	} {
		b := newBatch()
		e := export("s", entry("q", true, 1, 1, time.Unix(1, 0), text("db.query.text", c.query), text("db.system.name", c.system)))
		if err := decodeProtobuf(wire(t, e), b); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, a := range b.spans[0].attributes {
			if a.key == statementKey {
				got = a.value
			}
		}
		if got != c.want || b.spans[0].statement != "" {
			t.Errorf("%s: %q, want %q", c.system, got, c.want)
		}
	}
}

func FuzzProtobuf(f *testing.F) {
	f.Add(wire(f, rich()))
	f.Add(wire(f, export("s", entry("n", true, 1, 1, time.Unix(1, 0)))))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newBatch()
		err := decodeProtobuf(data, b)
		checkBatch(t, data, b)
		// Exports that the generated types accept are accepted here, too. (They also check
		// that texts are UTF-8, and parts that are not read here.)
		if proto.Unmarshal(data, &collector.ExportTraceServiceRequest{}) == nil && err != nil {
			t.Errorf("%v", err)
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add(otlpJSON(f, rich()))
	f.Add([]byte(`{"resourceSpans":[{"resource":null,"scopeSpans":[{"spans":[{"traceId":"zz","kind":-1}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newBatch()
		_ = decodeJSON(data, b)
		checkBatch(t, data, b)
	})
}

// checkBatch asserts the bounds.
func checkBatch(t *testing.T, data []byte, b *batch) {
	if int64(len(b.spans)) > b.all-b.invalid || len(b.spans)*24 > len(data) {
		t.Errorf("%d spans of %d bytes", len(b.spans), len(data))
	}
	for _, s := range b.spans {
		if len(s.name) > maxName || len(s.attributes) > maxAttributes+1 || len(s.message) > maxValue || s.trace == [16]byte{} {
			t.Errorf("%+v is over a bound", s)
		}
		s.record(func(uint64) time.Duration { return 0 }, redactor{})
	}
}
