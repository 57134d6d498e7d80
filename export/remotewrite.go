package export

import (
	"math"
	"time"

	"github.com/klauspost/compress/snappy"          // the block format that remote write is sent in
	"google.golang.org/protobuf/encoding/protowire" // four small messages need no generated code
)

// Remote write 1.0 (https://prometheus.io/docs/specs/prw/remote_write_spec/):
// a snappy block of prometheus.WriteRequest. Field numbers are those of
// prompb/remote.proto and prompb/types.proto.
const (
	requestSeries   = 1
	requestMetadata = 3
	seriesLabels    = 1
	seriesSamples   = 2
	labelName       = 1
	labelValue      = 2
	sampleValue     = 1
	sampleTimestamp = 2
	metadataType    = 1
	metadataFamily  = 2
	metadataHelp    = 4
)

// mostSamples is how many samples go into one request, about. Receivers bound
// its size; Prometheus itself sends 2,000.
const mostSamples = 5000

// staleMarker is the NaN by which Prometheus knows that a series has ended.
var staleMarker = math.Float64frombits(0x7ff0000000000002)

// remote writes windows to Prometheus, each sample at the end of its window.
type remote struct {
	*pusher
	common   []label
	reported map[string]bool // metrics whose type was sent
	alive    map[*line]bool  // that a stale marker is owed to
	last     time.Time       // end of the newest window
}

func newRemote(p *pusher) *remote {
	p.header.Set("Content-Encoding", "snappy")
	p.header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
	return &remote{pusher: p, reported: map[string]bool{}, alive: map[*line]bool{}}
}

func (r *remote) begin(common []label) {
	r.common = common
	go r.run()
}

// timed is the values of a line in a batch, in order of time.
type timed struct {
	*line
	at     []time.Time
	values []value
}

// byLine turns windows into lines: receivers want the samples of a series
// together.
func byLine(all []window) []*timed {
	var lines []*timed
	byLine := map[*line]*timed{}
	for _, w := range all {
		for _, v := range w.values {
			t := byLine[v.line]
			if t == nil {
				t = &timed{line: v.line}
				byLine[v.line] = t
				lines = append(lines, t)
			}
			t.at, t.values = append(t.at, w.at), append(t.values, v)
		}
	}
	return lines
}

func (r *remote) windows(all []window) {
	var e encoding
	for _, t := range byLine(all) {
		r.last = all[len(all)-1].at
		r.alive[t.line] = true
		if !r.reported[t.metric] {
			r.reported[t.metric] = true
			e.metadata(t.line)
		}
		r.encode(&e, t)
		if e.samples >= mostSamples {
			r.flush(&e)
		}
	}
	r.flush(&e)
}

func (r *remote) encode(e *encoding, t *timed) {
	if !t.histogram {
		e.series(t.metric, joined(r.common, t.labels))
		for i, v := range t.values {
			e.sample(t.at[i], v.number)
		}
		e.end()
		return
	}
	// A classic histogram is some forty series: its totals go once a batch.
	last := len(t.values) - 1
	one := func(suffix string, v float64, more ...label) {
		e.series(t.metric+suffix, joined(r.common, t.labels, more...))
		e.sample(t.at[last], v)
		e.end()
	}
	s := &t.values[last].spread
	s.classic(func(le float64, below uint64) { one("_bucket", float64(below), label{"le", number(le)}) })
	one("_sum", s.sum)
	one("_count", float64(s.total))
}

func (r *remote) flush(e *encoding) {
	if e.samples > 0 {
		r.push(request{contentType: "application/x-protobuf", body: snappy.Encode(nil, e.request), values: e.samples})
	}
	*e = encoding{}
}

// close marks the series as ended, so that graphs end with the run and not
// minutes later.
func (r *remote) close() string {
	var e encoding
	after := r.last.Add(time.Millisecond)
	for l := range r.alive {
		if l.histogram {
			continue
		}
		e.series(l.metric, joined(r.common, l.labels))
		e.sample(after, staleMarker)
		e.end()
		if e.samples >= mostSamples {
			r.flushMarkers(&e)
		}
	}
	r.flushMarkers(&e)
	return r.pusher.close()
}

// flushMarkers sends markers, which are no values that could be lost.
func (r *remote) flushMarkers(e *encoding) {
	e.samples = min(e.samples, 1)
	if e.samples > 0 {
		r.push(request{contentType: "application/x-protobuf", body: snappy.Encode(nil, e.request)})
	}
	*e = encoding{}
}

// encoding is a WriteRequest in the making.
type encoding struct {
	request, open []byte
	samples       int64
}

func (e *encoding) series(metric string, labels []label) {
	e.open = e.open[:0]
	// Labels are sorted, and __name__ is before any letter of ours.
	e.open = appendLabel(e.open, "__name__", metric)
	for _, l := range labels {
		if l.value != "" { // an empty label is none, and must not be sent
			e.open = appendLabel(e.open, l.name, l.value)
		}
	}
}

func (e *encoding) sample(at time.Time, v float64) {
	var m []byte
	m = protowire.AppendTag(m, sampleValue, protowire.Fixed64Type)
	m = protowire.AppendFixed64(m, math.Float64bits(v))
	m = protowire.AppendTag(m, sampleTimestamp, protowire.VarintType)
	m = protowire.AppendVarint(m, uint64(at.UnixMilli()))
	e.open = appendBytes(e.open, seriesSamples, m)
	e.samples++
}

func (e *encoding) end() { e.request = appendBytes(e.request, requestSeries, e.open) }

func (e *encoding) metadata(l *line) {
	kind := map[string]uint64{"counter": 1, "gauge": 2, "histogram": 3}[l.kind()]
	var m []byte
	m = protowire.AppendTag(m, metadataType, protowire.VarintType)
	m = protowire.AppendVarint(m, kind)
	m = appendBytes(m, metadataFamily, []byte(l.metric))
	m = appendBytes(m, metadataHelp, []byte(l.help()))
	e.request = appendBytes(e.request, requestMetadata, m)
}

func appendLabel(to []byte, name, value string) []byte {
	var m []byte
	m = appendBytes(m, labelName, []byte(name))
	m = appendBytes(m, labelValue, []byte(value))
	return appendBytes(to, seriesLabels, m)
}

func appendBytes(to []byte, field protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), b)
}
