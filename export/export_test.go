package export

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt" // Prometheus' own reader of its text format
	"github.com/prometheus/common/model"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// TestConformance holds what is true of every exporter: it gets all windows,
// is silent when all arrived, leaves the record complete, and survives a
// receiver that is dead, refuses, or stands still.
func TestConformance(t *testing.T) {
	exporters := map[string]func(url string) scenario.Export{
		"remote write": func(u string) scenario.Export { return scenario.Export{Prometheus: u + "/api/v1/write"} },
		"otlp":         func(u string) scenario.Export { return scenario.Export{OTLP: u} },
		"pyroscope":    func(u string) scenario.Export { return scenario.Export{Pyroscope: u} },
	}
	for name, export := range exporters {
		deliver := func(t *testing.T, to string) (*stand, []string) {
			s := newStand(t, export(to))
			s.drive(t)
			if err := s.Profile(record.Profile{Type: "cpu", Span: timebase.Span{To: time.Second}, Data: []byte("pprof")}); err != nil {
				t.Fatal(err)
			}
			return s, s.Finish()
		}
		t.Run(name+" takes all", func(t *testing.T) {
			r := newReceiver(t)
			if s, warnings := deliver(t, r.URL); len(warnings) > 0 || len(r.got) == 0 || !slices.Equal(s.Finish(), warnings) {
				t.Errorf("%d requests, warnings %q", len(r.got), warnings)
			}
		})
		t.Run(name+" tries again", func(t *testing.T) {
			r := newReceiver(t, status(503, "busy"), status(429, "slowly"))
			s := newStand(t, export(r.URL))
			s.drive(t)
			if s.gather != nil {
				s.send(time.Hour)
			}
			if err := s.Profile(record.Profile{Type: "cpu", Data: []byte("pprof")}); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				<-r.came
			}
			if warnings := s.Finish(); len(warnings) > 0 || !bytes.Equal(r.bodies[0], r.bodies[2]) {
				t.Errorf("warnings %q", warnings)
			}
		})
		t.Run(name+" refuses", func(t *testing.T) {
			text := "out of\nbounds \x1b[31m token=hunter2"
			r := newReceiver(t, slices.Repeat([]func(http.ResponseWriter){status(400, text)}, 9)...)
			_, warnings := deliver(t, r.URL)
			if len(warnings) != 1 || !strings.Contains(warnings[0], "400 Bad Request: out of bounds") {
				t.Fatalf("%q", warnings)
			}
			if strings.ContainsAny(warnings[0], "\n\x1b") || strings.Contains(warnings[0], "hunter2") {
				t.Errorf("%q", warnings[0])
			}
		})
		t.Run(name+" is dead", func(t *testing.T) {
			s, warnings := deliver(t, "http://"+deadAddress(t))
			if len(warnings) != 1 || !strings.Contains(warnings[0], "did not accept") || !strings.Contains(warnings[0], "refused") {
				t.Errorf("%q", warnings)
			}
			s.complete(t)
		})
		t.Run(name+" keeps secrets", func(t *testing.T) {
			r := newReceiver(t, slices.Repeat([]func(http.ResponseWriter){status(401, "who?")}, 9)...)
			secret := strings.Replace(r.URL, "http://", "http://bob:hunter2@", 1)
			_, warnings := deliver(t, secret)
			if len(warnings) != 1 || strings.Contains(warnings[0], "hunter2") || strings.Contains(warnings[0], "bob") {
				t.Errorf("%q", warnings)
			}
			if user, password, _ := r.got[0].BasicAuth(); user != "bob" || password != "hunter2" {
				t.Errorf("%s %s", user, password)
			}
		})
	}
}

// deadAddress is one where nobody listens.
func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// complete checks that the record has what was delivered.
func (s *stand) complete(t *testing.T) {
	t.Helper()
	if err := s.Writer.Close(record.Complete, ""); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	span := timebase.Span{To: 3 * timebase.DefaultWindow}
	if got := r.Series(series.LoadRequests, "", span).Values; !slices.Equal(got, []float64{4, 4, 4}) || len(r.Profiles("cpu")) != 1 {
		t.Errorf("requests %v, profiles %v", got, r.Profiles("cpu"))
	}
}

// TestReceiverThatStandsStill: the run is not held up, and what does not fit is
// counted.
func TestReceiverThatStandsStill(t *testing.T) {
	there, stuck := make(chan struct{}), make(chan struct{})
	r := newReceiver(t, func(http.ResponseWriter) { close(there); <-stuck })
	p := newPusher("receiver", parsed(t, r.URL), "")
	go p.run()
	body := make([]byte, mostQueued/4)
	for range 9 {
		p.push(request{body: body, values: 10})
	}
	if p.dropped != 50 {
		t.Errorf("dropped %d", p.dropped)
	}
	<-there    // with all of the body: the receiver counts a part as an error
	p.cancel() // as the grace time does
	<-p.ended
	close(stuck)
	if text := p.close(); !strings.Contains(text, "did not accept 90 of 90 values: it accepts them slower than they arrive") {
		t.Errorf("%q", text)
	}
}

// TestTooLarge: what never fits is not blamed on the receiver's pace.
func TestTooLarge(t *testing.T) {
	r := newReceiver(t)
	s := newStand(t, scenario.Export{Pyroscope: r.URL})
	for i, size := range []int{1, mostQueued + 1} {
		span := timebase.Span{To: time.Duration(i+1) * time.Second}
		if err := s.Profile(record.Profile{Type: "cpu", Span: span, Data: make([]byte, size)}); err != nil {
			t.Fatal(err)
		}
	}
	if w := s.Finish(); len(w) != 1 || !strings.Contains(w[0], "did not accept 1 of 2 profiles: one is larger than 32 MB") {
		t.Errorf("%q", w)
	}
}

// TestRedirect: the token does not go elsewhere.
func TestRedirect(t *testing.T) {
	elsewhere := newReceiver(t)
	r := newReceiver(t, func(w http.ResponseWriter) {
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	p := newPusher("receiver", parsed(t, r.URL), "s3cret")
	go p.run()
	p.push(request{body: []byte("x"), values: 1})
	if text := p.close(); !strings.Contains(text, "307") || len(elsewhere.got) != 0 {
		t.Errorf("%q, %d requests elsewhere", text, len(elsewhere.got))
	}
	if got := r.got[0].Header.Get("Authorization"); got != "Bearer s3cret" {
		t.Errorf("%q", got)
	}
}

func TestRemoteWrite(t *testing.T) {
	r := newReceiver(t)
	s := newStand(t, scenario.Export{Prometheus: r.address("/api/v1/write")})
	s.drive(t)
	if warnings := s.Finish(); len(warnings) > 0 {
		t.Fatal(warnings)
	}
	for name, want := range map[string]string{
		"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf", "X-Prometheus-Remote-Write-Version": "0.1.0",
	} {
		if got := r.got[0].Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	all, types := decodeWrite(t, r.bodies[0])
	if types["redline_load_requests_total"] != 1 || types["redline_load_in_flight"] != 2 || types[histogramMetric] != 3 {
		t.Errorf("types %v", types)
	}
	series := map[string]written{}
	for _, w := range all {
		if !slices.IsSorted(w.order) || len(slices.Compact(slices.Clone(w.order))) != len(w.order) {
			t.Errorf("labels %q", w.order)
		}
		if w.labels["run"] != "20260131-orders" || w.labels["scenario"] != "orders" {
			t.Errorf("labels %v", w.labels)
		}
		series[w.labels["__name__"]+w.labels["q"]+w.labels["le"]] = w
	}
	var ends []int64
	for w := range int64(3) {
		ends = append(ends, s.clock.EpochWall.Add(timebase.WindowSpan(w, timebase.DefaultWindow).To).UnixMilli())
	}
	for name, want := range map[string][]float64{
		"redline_load_requests_total":           {4, 8, 12},
		"redline_load_in_flight":                {0, 1, 2},
		"redline_load_latency_secondsp99":       {0.4, 0.4, 0.4},
		"redline_go_gc_heap_allocs_bytes_total": {1 << 20, 2 << 20, 3 << 20},
	} {
		if got := series[name]; !slices.Equal(got.at, ends) || !closeTo(got.values, want) {
			t.Errorf("%s: %v at %v, want %v at %v", name, got.values, got.at, want, ends)
		}
	}
	if got := series[histogramMetric+"_bucket+Inf"]; !slices.Equal(got.values, []float64{12}) {
		t.Errorf("+Inf %v", got)
	}
	markers, _ := decodeWrite(t, r.bodies[len(r.bodies)-1])
	for _, m := range markers {
		if math.Float64bits(m.values[0]) != math.Float64bits(staleMarker) || m.at[0] <= ends[2] {
			t.Errorf("%v: %x at %d", m.labels, math.Float64bits(m.values[0]), m.at[0])
		}
	}
	if len(markers) != 6 {
		t.Errorf("%d markers", len(markers))
	}
}

func closeTo(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) })
}

func TestOTLP(t *testing.T) {
	answer, err := proto.Marshal(&collector.ExportMetricsServiceResponse{
		PartialSuccess: &collector.ExportMetricsPartialSuccess{RejectedDataPoints: 2, ErrorMessage: "too old"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := newReceiver(t, func(w http.ResponseWriter) { _, _ = w.Write(answer) })
	s := newStand(t, scenario.Export{OTLP: r.URL})
	s.drive(t)
	if warnings := s.Finish(); len(warnings) != 1 || !strings.Contains(warnings[0], "did not accept 2 of 21 values: too old") {
		t.Errorf("%q", warnings)
	}
	if got := r.got[0].URL.Path; got != "/v1/metrics" {
		t.Errorf("path %s", got)
	}
	var body collector.ExportMetricsServiceRequest
	if err := proto.Unmarshal(r.bodies[0], &body); err != nil {
		t.Fatal(err)
	}
	about := map[string]string{}
	for _, a := range body.ResourceMetrics[0].Resource.Attributes {
		about[a.Key] = a.Value.GetStringValue()
	}
	if want := map[string]string{"service.name": "gateway", "redline.run": "20260131-orders",
		"redline.scenario": "orders"}; !reflect.DeepEqual(about, want) {
		t.Errorf("resource %v", about)
	}
	named := map[string]*metrics.Metric{}
	for _, m := range body.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		named[m.Name] = m
	}
	began := uint64(s.clock.EpochWall.UnixNano())
	sum := named["redline.load.requests"].GetSum()
	if !sum.GetIsMonotonic() || len(sum.DataPoints) != 3 || sum.DataPoints[2].GetAsDouble() != 12 ||
		sum.DataPoints[2].StartTimeUnixNano != began || sum.DataPoints[2].TimeUnixNano != began+3e8 {
		t.Errorf("sum %v", sum)
	}
	if cpu := named["redline.process.cpu.user"]; cpu.Unit != "s" ||
		!closeTo([]float64{cpu.GetSum().DataPoints[2].GetAsDouble()}, []float64{0.15}) {
		t.Errorf("cpu %v", cpu)
	}
	if g := named["redline.load.in_flight"].GetGauge(); len(g.GetDataPoints()) != 3 || g.DataPoints[1].GetAsDouble() != 1 {
		t.Errorf("gauge %v", g)
	}
	h := named[histogramName].GetExponentialHistogram()
	if len(h.GetDataPoints()) != 3 {
		t.Fatalf("histogram %v", h)
	}
	point := h.DataPoints[2]
	total := uint64(0)
	for _, n := range point.Positive.BucketCounts {
		total += n
	}
	top := bound(int(point.Positive.Offset) + len(point.Positive.BucketCounts) - 1)
	if point.Count != 12 || total != 12 || top < 0.4 || top > 0.4*1.1 || math.Abs(point.GetSum()-3*0.407) > 0.002 {
		t.Errorf("histogram %v, top %g", point, top)
	}
}

func TestPyroscope(t *testing.T) {
	r := newReceiver(t)
	s := newStand(t, scenario.Export{Pyroscope: r.URL, PyroscopeToken: "s3cret"})
	s.exporters.pyroscope.id.Service = `a {b="c",d}` // as no target is called
	span := timebase.Span{From: 5 * time.Second, To: 15 * time.Second}
	if err := s.Profile(record.Profile{Type: "mutex", Span: span, Data: []byte("a delta")}); err != nil {
		t.Fatal(err)
	}
	if warnings := s.Finish(); len(warnings) > 0 {
		t.Fatal(warnings)
	}
	q := r.got[0]
	unix := s.clock.EpochWall.Add(span.From).Unix()
	want := url.Values{
		"name":    {"a__b__c__d_{profile=mutex,run=20260131-orders,scenario=orders,windows=50-149}"},
		"format":  {"pprof"},
		"spyName": {"gospy"},
	}
	got := q.URL.Query()
	from, until := got.Get("from"), got.Get("until")
	got.Del("from")
	got.Del("until")
	if !reflect.DeepEqual(got, want) || q.URL.Path != "/ingest" || q.Method != http.MethodPost {
		t.Errorf("%s %s %v", q.Method, q.URL.Path, got)
	}
	if from != jsonNumber(unix) || until != jsonNumber(unix+10) {
		t.Errorf("from %s until %s, want %d", from, until, unix)
	}
	if q.Header.Get("Authorization") != "Bearer s3cret" {
		t.Error("the token was not shown")
	}
	parts := formParts(t, q, r.bodies[0])
	var config map[string]map[string]any
	if err := json.Unmarshal(parts["sample_type_config"], &config); err != nil {
		t.Fatal(err)
	}
	if string(parts["profile"]) != "a delta" || config["delay"]["units"] != "lock_nanoseconds" ||
		config["delay"]["display-name"] != "mutex_duration" {
		t.Errorf("%q", parts)
	}
}

func jsonNumber(n int64) string { text, _ := json.Marshal(n); return string(text) }

func TestPage(t *testing.T) {
	s := newStand(t, scenario.Export{Prometheus: "127.0.0.1:0", PrometheusToken: "s3cret"})
	s.drive(t)
	s.send(time.Hour)
	if code, _ := get(t, s.page, ""); code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", code)
	}
	if code, _ := get(t, s.page, "Bearer s3cre"); code != http.StatusUnauthorized {
		t.Errorf("with half a token: %d", code)
	}
	code, text := get(t, s.page, "Bearer s3cret")
	if code != http.StatusOK {
		t.Fatal(code)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for name, want := range map[string]float64{
		"redline_load_requests_total": 12, "redline_load_in_flight": 2, "redline_load_latency_seconds": 0.4,
		"redline_process_cpu_user_seconds_total": 0.15, "redline_load_errors_total": 1.5,
	} {
		f := families[name]
		if f == nil {
			t.Errorf("no %s", name)
			continue
		}
		got, kind := f.Metric[0].GetGauge().GetValue(), dto.MetricType_GAUGE
		if strings.HasSuffix(name, "_total") {
			got, kind = f.Metric[0].GetCounter().GetValue(), dto.MetricType_COUNTER
		}
		if f.GetType() != kind || !closeTo([]float64{got}, []float64{want}) {
			t.Errorf("%s %v = %g, want %g", name, f.GetType(), got, want)
		}
	}
	if h := families[histogramMetric].Metric[0].GetHistogram(); h.GetSampleCount() != 12 ||
		h.Bucket[len(h.Bucket)-1].GetCumulativeCount() != 12 {
		t.Errorf("%v", h)
	}
	if got := families["redline_load_errors_total"].Metric[0].Label[0]; got.GetName() != "kind" || got.GetValue() != `bad "one"` {
		t.Errorf("%v", got)
	}
	if warnings := s.Finish(); len(warnings) > 0 {
		t.Error(warnings)
	}
	if _, err := net.DialTimeout("tcp", strings.TrimSuffix(strings.TrimPrefix(s.page, "http://"), "/metrics"), time.Second); err == nil {
		t.Error("the page outlives the run")
	}
}

func get(t *testing.T, url, authorization string) (int, []byte) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		q.Header.Set("Authorization", authorization)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, text
}

func TestAddressThatIsTaken(t *testing.T) {
	s := newStand(t, scenario.Export{Prometheus: "127.0.0.1:0"})
	taken := strings.TrimSuffix(strings.TrimPrefix(s.page, "http://"), "/metrics")
	if _, err := Open(Options{Export: scenario.Export{Prometheus: taken}, Clock: s.clock}); err == nil ||
		!strings.Contains(err.Error(), "hint") {
		t.Errorf("%v", err)
	}
	s.Finish()
}
