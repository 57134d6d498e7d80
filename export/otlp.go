package export

import (
	"net/http"
	"net/url"
	"time"

	// OTLP's messages without the code of its services.
	collector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	"google.golang.org/protobuf/proto"
)

// otlp sends windows as OTLP over HTTP with protobuf bodies
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp): a point per series and
// window, counters and histograms cumulative since the run began, which every
// receiver takes.
type otlp struct {
	*pusher
	began    time.Time
	resource *resource.Resource
	scope    *common.InstrumentationScope
}

// otlpPath is where a receiver takes metrics when its URL has no path.
const otlpPath = "/v1/metrics"

func newOTLP(p *pusher, version string, began time.Time) *otlp {
	if u, err := url.Parse(p.url); err == nil && (u.Path == "" || u.Path == "/") {
		u.Path = otlpPath
		p.url = u.String()
	}
	p.retry = func(status int) bool { // as the specification lists them
		return status == http.StatusTooManyRequests || status == http.StatusBadGateway ||
			status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
	}
	p.refused = func(body []byte) (int64, string) {
		var answer collector.ExportMetricsServiceResponse
		if err := proto.Unmarshal(body, &answer); err != nil {
			return 0, "" // a good status, whatever else it says
		}
		part := answer.GetPartialSuccess()
		return max(part.GetRejectedDataPoints(), 0), part.GetErrorMessage()
	}
	return &otlp{pusher: p, began: began, scope: &common.InstrumentationScope{Name: "redline", Version: version}}
}

func (o *otlp) begin(id Identity) {
	o.resource = &resource.Resource{Attributes: attributes([]label{
		{"redline.run", text8(id.Run)}, {"redline.scenario", text8(id.Scenario)}, {"service.name", text8(id.Service)},
	})}
	go o.run()
}

func (o *otlp) windows(all []window) {
	var sent []*metrics.Metric
	points := int64(0)
	byName := map[string]*metrics.Metric{}
	flush := func() {
		if points > 0 {
			o.send(sent, points)
		}
		sent, points, byName = nil, 0, map[string]*metrics.Metric{}
	}
	for _, t := range byLine(all) {
		m := byName[t.metric]
		if m == nil {
			m = newMetric(t.line)
			byName[t.metric], sent = m, append(sent, m)
		}
		o.add(m, t)
		if points += int64(len(t.values)); points >= mostSamples {
			flush()
		}
	}
	flush()
}

func newMetric(l *line) *metrics.Metric {
	m := &metrics.Metric{Name: l.name, Unit: l.unit, Description: l.help()}
	const cumulative = metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	switch {
	case l.histogram:
		histogram := &metrics.ExponentialHistogram{AggregationTemporality: cumulative}
		m.Data = &metrics.Metric_ExponentialHistogram{ExponentialHistogram: histogram}
	case l.counter:
		m.Data = &metrics.Metric_Sum{Sum: &metrics.Sum{AggregationTemporality: cumulative, IsMonotonic: true}}
	default:
		m.Data = &metrics.Metric_Gauge{Gauge: &metrics.Gauge{}}
	}
	return m
}

// add appends a line's points to its metric.
func (o *otlp) add(m *metrics.Metric, t *timed) {
	labels := attributes(t.labels)
	for i, v := range t.values {
		at := uint64(t.at[i].UnixNano())
		number := &metrics.NumberDataPoint{Attributes: labels, TimeUnixNano: at,
			Value: &metrics.NumberDataPoint_AsDouble{AsDouble: v.number}}
		switch data := m.Data.(type) {
		case *metrics.Metric_Sum:
			number.StartTimeUnixNano = uint64(o.began.UnixNano())
			data.Sum.DataPoints = append(data.Sum.DataPoints, number)
		case *metrics.Metric_Gauge:
			data.Gauge.DataPoints = append(data.Gauge.DataPoints, number)
		case *metrics.Metric_ExponentialHistogram:
			data.ExponentialHistogram.DataPoints = append(data.ExponentialHistogram.DataPoints, o.histogram(&v.spread, labels, at))
		}
	}
}

func (o *otlp) histogram(s *spread, labels []*common.KeyValue, at uint64) *metrics.ExponentialHistogramDataPoint {
	return &metrics.ExponentialHistogramDataPoint{
		Attributes: labels, StartTimeUnixNano: uint64(o.began.UnixNano()), TimeUnixNano: at,
		Count: s.total, Sum: &s.sum, Scale: scale,
		Positive: &metrics.ExponentialHistogramDataPoint_Buckets{Offset: int32(s.from), BucketCounts: s.counts},
	}
}

func (o *otlp) send(all []*metrics.Metric, points int64) {
	body, err := proto.Marshal(&collector.ExportMetricsServiceRequest{ResourceMetrics: []*metrics.ResourceMetrics{{
		Resource:     o.resource,
		ScopeMetrics: []*metrics.ScopeMetrics{{Scope: o.scope, Metrics: all}},
	}}})
	if err != nil { // text that is no UTF-8, of which text8 leaves none
		o.mu.Lock()
		o.lose(points, err.Error())
		o.mu.Unlock()
		return
	}
	o.push(request{contentType: "application/x-protobuf", body: body, values: points})
}

func attributes(labels []label) []*common.KeyValue {
	var all []*common.KeyValue
	for _, l := range labels {
		all = append(all, &common.KeyValue{Key: l.name, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: l.value}}})
	}
	return all
}
