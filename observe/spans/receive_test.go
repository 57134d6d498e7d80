package spans

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/redline-go/redline/access"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
)

func contextOf(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(t.Context()))
}

func TestSourceConforms(t *testing.T) {
	observetest.Run(t, func() observe.Source { return New() }, observe.Subject{OTLP: []string{"127.0.0.1:0"}})
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// post sends an export and returns the status.
func post(t testing.TB, url, kind string, body []byte, headers ...string) int {
	t.Helper()
	q, err := http.NewRequest("POST", url+"/v1/traces", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", kind)
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer r.Body.Close()
	io.Copy(io.Discard, r.Body)
	return r.StatusCode
}

const (
	protobuf = "application/x-protobuf"
	jsonType = "application/json"
)

// call exports over gRPC with the library that exporters use.
func call(t testing.TB, url string, e any, headers []string, options ...grpc.CallOption) error {
	t.Helper()
	conn, err := grpc.NewClient(strings.TrimPrefix(url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if headers != nil {
		ctx = metadata.AppendToOutgoingContext(ctx, headers...)
	}
	return conn.Invoke(ctx, procedure, e, new(collector.ExportTraceServiceResponse), options...)
}

// TestEveryWayIn sends one span each way and finds it in the sink.
func TestEveryWayIn(t *testing.T) {
	begun := time.Now()
	r := start(t)
	of := func(name string, n uint64) *collector.ExportTraceServiceRequest {
		return export("shop", entry(name, true, n, time.Millisecond, time.Now()))
	}
	for i, c := range []struct {
		name, kind string
		body       []byte
		packed     bool
	}{
		{"protobuf", protobuf, wire(t, of("protobuf", 1)), false},
		{"protobuf packed", protobuf, wire(t, of("protobuf packed", 2)), true},
		{"json", jsonType, otlpJSON(t, of("json", 3)), false},
		{"json packed", jsonType + "; charset=utf-8", otlpJSON(t, of("json packed", 4)), true},
	} {
		headers := []string{}
		if c.packed {
			c.body, headers = gzipped(c.body), []string{"Content-Encoding", "gzip"}
		}
		if got := post(t, r.url, c.kind, c.body, headers...); got != http.StatusOK {
			t.Errorf("%d %s: status %d", i, c.name, got)
		}
	}
	if err := call(t, r.url, of("grpc", 5), nil); err != nil {
		t.Errorf("gRPC: %v", err)
	}
	if err := call(t, r.url, of("grpc packed", 6), nil, grpc.UseCompressor("gzip")); err != nil {
		t.Errorf("gRPC with gzip: %v", err)
	}
	h := r.stop()
	for _, name := range []string{"protobuf", "protobuf packed", "json", "json packed", "grpc", "grpc packed"} {
		found := r.sink.named(name)
		if len(found) != 1 || found[0].Service != "shop" || found[0].Kind != "server" || found[0].To-found[0].From != time.Millisecond {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if !h.OK || h.Why != "" || h.Align.P99 <= 0 || h.Align.P99 > time.Since(begun) {
		t.Errorf("health %+v", h)
	}
	if calls, _ := r.sink.Sum(series.SpanCalls, "service=shop"); calls != 6 {
		t.Errorf("%v calls of the service", calls)
	}
	if n, _ := r.sink.Sum(series.SpansReceived, ""); n != 6 {
		t.Errorf("%v spans received", n)
	}
	if took := r.sink.Last(series.SpanDuration, "q=p50,service=shop"); took < 9.9e5 || took > 1.02e6 {
		t.Errorf("p50 of a span of 1 ms is %v ns", took)
	}
}

func TestNothingArrives(t *testing.T) {
	h := start(t).stop()
	if h.OK || !strings.Contains(h.Why, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1") {
		t.Errorf("health %+v", h)
	}
}

func TestBadExportsAreRefused(t *testing.T) {
	r := start(t)
	good := wire(t, export("shop", entry("good", true, 1, 1, time.Now())))
	bomb := gzipped(make([]byte, 2*maxBody))
	for name, c := range map[string]struct {
		kind, encoding string
		body           []byte
		want           int
	}{
		"malformed":           {protobuf, "", []byte("hello"), 400},
		"cut":                 {protobuf, "", good[:len(good)-1], 400},
		"not json":            {jsonType, "", []byte(`{"resourceSpans": [}`), 400},
		"other json":          {jsonType, "", []byte(`{"resourceSpans": 7}`), 400},
		"json and more":       {jsonType, "", []byte(`{} {}`), 400},
		"text":                {"text/plain", "", good, 415},
		"no type":             {"", "", good, 415},
		"other packing":       {protobuf, "zstd", good, 415},
		"not packed":          {protobuf, "gzip", good, 400},
		"cut pack":            {protobuf, "gzip", gzipped(good)[:20], 400},
		"bomb":                {protobuf, "gzip", bomb, 413},
		"bomb of json":        {jsonType, "gzip", bomb, 413},
		"over the bound":      {protobuf, "", make([]byte, maxBody+1), 413},
		"empty, which is one": {protobuf, "", nil, 200},
	} {
		headers := []string{}
		if c.encoding != "" {
			headers = []string{"Content-Encoding", c.encoding}
		}
		if got := post(t, r.url, c.kind, c.body, headers...); got != c.want {
			t.Errorf("%s: status %d, want %d", name, got, c.want)
		}
	}
	if got := grpcstatus.Code(call(t, r.url, export("big", entry(strings.Repeat("n", maxBody), true, 2, 1,
		time.Now())), nil, grpc.UseCompressor("gzip"))); got != codes.ResourceExhausted {
		t.Errorf("a bomb over gRPC: %v", got)
	}
	if got := post(t, r.url, protobuf, good); got != 200 {
		t.Errorf("after all that a good export gets %d", got)
	}
	h := r.stop()
	if len(r.sink.named("good")) != 1 || !strings.Contains(h.Why, "refused 13 exports") {
		t.Errorf("%d spans, health %q", len(r.sink.spans), h.Why)
	}
}

func TestTokens(t *testing.T) {
	r := start(t, func(s *observe.Subject) { s.OTLPToken = "s3cret" })
	good := export("shop", entry("in", true, 1, 1, time.Now()))
	for _, token := range []string{"", "Bearer", "Bearer other", "s3cret", "Basic s3cret"} {
		if got := post(t, r.url, protobuf, wire(t, good), "Authorization", token); got != 401 {
			t.Errorf("token %q: status %d", token, got)
		}
	}
	if got := grpcstatus.Code(call(t, r.url, good, nil)); got != codes.Unauthenticated {
		t.Errorf("gRPC without a token: %v", got)
	}
	if got := post(t, r.url, protobuf, wire(t, good), "Authorization", "Bearer s3cret"); got != 200 {
		t.Errorf("with the token: status %d", got)
	}
	if err := call(t, r.url, good, []string{"authorization", "Bearer s3cret"}); err != nil {
		t.Errorf("gRPC with the token: %v", err)
	}
}

func TestAddressesOfOthersNeedAToken(t *testing.T) {
	for address, ok := range map[string]bool{"127.0.0.1:0": true, "[::1]:0": true, "0.0.0.0:0": false, ":0": false} {
		l, err := listen(t.Context(), address, access.Options{})
		if err == nil {
			l.Close()
		}
		if address == "[::1]:0" && err != nil {
			continue // no IPv6 here
		}
		if (err == nil) != ok {
			t.Errorf("%s without a token: %v", address, err)
		}
	}
	l, err := listen(t.Context(), "0.0.0.0:0", access.Options{Token: "token"})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// TestFlood sends 100,000 spans at once, the load's own among them.
func TestFlood(t *testing.T) {
	r := start(t)
	const exports, each, own = 20, 5000, 10
	var bodies [][]byte
	now := time.Now()
	for i := range uint64(exports) {
		var spans []*trace.Span
		for n := range uint64(each) {
			spans = append(spans, entry("flood", false, 1+i*each+n, time.Duration(n)*time.Microsecond, now, text("http.route", "/")))
		}
		for n := range uint64(own) {
			spans = append(spans, entry("own", true, 1+i*own+n, time.Microsecond, now))
		}
		bodies = append(bodies, wire(t, export("flooding", spans...)))
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begun := time.Now()
	for _, body := range bodies {
		if got := post(t, r.url, protobuf, body); got != 200 {
			t.Fatalf("status %d", got)
		}
	}
	took := time.Since(begun)
	runtime.GC()
	runtime.ReadMemStats(&after)
	h := r.stop()
	tally := r.source.store.tally()
	admitted := tally.received - tally.dropped
	most := int64(mostPerSecond*(1+took.Seconds())) + exports*own + 1
	if tally.received != exports*(each+own) || admitted > most || tally.dropped == 0 && took < 3*time.Second {
		t.Errorf("in %v: %+v", took, tally)
	}
	if got := len(r.sink.named("own")); got != exports*own {
		t.Errorf("%d spans of the load's own were kept of %d", got, exports*own)
	}
	if got := len(r.sink.named("flood")); got > maxOthers {
		t.Errorf("%d spans of others were kept", got)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
	if dropped, _ := r.sink.Sum(series.SpansDropped, ""); int64(dropped) != tally.dropped ||
		strings.Contains(h.Why, "were dropped") != (dropped > 0) {
		t.Errorf("%v dropped in the series, %d were; health %q", dropped, tally.dropped, h.Why)
	}
	t.Logf("%d spans in %v, %d looked at", tally.received, took, admitted)
}

// TestExporterDies cuts exports off in the middle.
func TestExporterDies(t *testing.T) {
	r := start(t)
	body := wire(t, export("shop", entry("whole", true, 1, 1, time.Now())))
	for cut := range len(body) {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			protobuf, len(body), body[:cut])
		c.Close()
	}
	if got := post(t, r.url, protobuf, body); got != 200 {
		t.Errorf("status %d", got)
	}
	r.stop()
	if got := len(r.sink.named("whole")); got != 1 {
		t.Errorf("%d spans", got)
	}
}

// TestLastExportIsWaitedFor: exporters send after the load is over.
func TestLastExportIsWaitedFor(t *testing.T) {
	r := start(t)
	r.source.patience = time.Minute
	post(t, r.url, protobuf, wire(t, export("shop", entry("first", true, 1, 1, time.Now()))))
	stopped := make(chan record.SourceHealth)
	go func() { stopped <- r.stop() }()
	for n := uint64(2); ; n++ {
		select {
		case h := <-stopped:
			if len(r.sink.named("later")) == 0 || !h.OK {
				t.Errorf("the last export is lost: %+v", h)
			}
			return
		default:
		}
		// One that comes while the source is closing is refused, which is not
		// the subject of this test.
		body := wire(t, export("shop", entry("later", true, n, 1, time.Now())))
		if answer, err := http.Post(r.url+"/v1/traces", protobuf, bytes.NewReader(body)); err == nil {
			answer.Body.Close()
		}
	}
}
