package spans

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	// The generated types of OTLP, without gRPC, with which decoding is compared.
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

const runTrace = 0xabcdef0123456789

// keeping is a sink that keeps spans too.
type keeping struct {
	observetest.Sink
	mu    sync.Mutex
	spans []record.TraceSpan
}

func (k *keeping) Spans(spans ...record.TraceSpan) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spans = spans
	return nil
}

// named returns the kept spans of a name.
func (k *keeping) named(name string) (found []record.TraceSpan) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

func number(key string, value int64) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: value}}}
}

// ids are a trace and a span id; own ones are of the run's load.
func ids(own bool, n uint64) (traceID, spanID []byte) {
	first := uint64(1)
	if own {
		first = runTrace
	}
	traceID = binary.BigEndian.AppendUint64(nil, first)
	traceID = binary.BigEndian.AppendUint64(traceID, n)
	return traceID, binary.BigEndian.AppendUint64(nil, n)
}

// entry is a span of kind server that ends at a time.
func entry(name string, own bool, n uint64, took time.Duration, end time.Time, attributes ...*common.KeyValue) *trace.Span {
	traceID, spanID := ids(own, n)
	return &trace.Span{
		TraceId: traceID, SpanId: spanID, Name: name, Kind: trace.Span_SPAN_KIND_SERVER,
		StartTimeUnixNano: uint64(end.Add(-took).UnixNano()), EndTimeUnixNano: uint64(end.UnixNano()), Attributes: attributes,
	}
}

func export(service string, spans ...*trace.Span) *collector.ExportTraceServiceRequest {
	return &collector.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{{
		Resource:   &resource.Resource{Attributes: []*common.KeyValue{text("service.name", service), text("host.name", "h")}},
		ScopeSpans: []*trace.ScopeSpans{{Scope: &common.InstrumentationScope{Name: "test"}, Spans: spans}},
	}}}
}

func wire(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// otlpJSON writes an export as OTLP's JSON is: ids in hexadecimal, enums as
// numbers.
func otlpJSON(t testing.TB, e *collector.ExportTraceServiceRequest) []byte {
	t.Helper()
	data, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for i, r := range all["resourceSpans"].([]any) {
		for j, scope := range r.(map[string]any)["scopeSpans"].([]any) {
			for k, s := range scope.(map[string]any)["spans"].([]any) {
				from := e.ResourceSpans[i].ScopeSpans[j].Spans[k]
				s := s.(map[string]any)
				s["traceId"], s["spanId"] = hex.EncodeToString(from.TraceId), hex.EncodeToString(from.SpanId)
				if len(from.ParentSpanId) > 0 {
					s["parentSpanId"] = hex.EncodeToString(from.ParentSpanId)
				}
			}
		}
	}
	if data, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	return data
}

// running is a source that runs until stop.
type running struct {
	source *Source
	sink   *keeping
	url    string
	stop   func() record.SourceHealth
}

// start runs a source at a free address.
func start(t testing.TB, change ...func(*observe.Subject)) *running {
	t.Helper()
	return begin(t, opened(t, 0, change...))
}

// opened returns a source that listens but does not run yet. rate, if not 0, is how many
// exports it takes per second.
func opened(t testing.TB, rate float64, change ...func(*observe.Subject)) *running {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject := observe.Subject{Clock: clock, Window: 20 * time.Millisecond, OTLP: []string{"127.0.0.1:0"}, Trace: runTrace}
	for _, c := range change {
		c(&subject)
	}
	r := &running{source: New(), sink: &keeping{}}
	r.source.patience = 50 * time.Millisecond
	if rate > 0 {
		r.source.rate = rate
	}
	if err := r.source.Open(t.Context(), subject); err != nil {
		t.Fatal(err)
	}
	r.url = fmt.Sprintf("http://%s", r.source.listeners[0].Addr())
	return r
}

// begin lets an open source run.
func begin(t testing.TB, r *running) *running {
	ctx, end := contextOf(t)
	done := make(chan error, 1)
	go func() { done <- r.source.Run(ctx, r.sink) }()
	r.stop = sync.OnceValue(func() record.SourceHealth {
		end()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		return r.source.Health()
	})
	t.Cleanup(func() { r.stop() })
	return r
}
