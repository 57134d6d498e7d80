package histogram

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/record/timebase"
)

// TestHdrCodec checks our codec against hdrhistogram-go's, in both directions.
func TestHdrCodec(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var p Encoders
	var d Decoder
	for round := range 40 {
		h := New()
		must(t, h.RecordValues(Highest, int64(round%2))) // the last bucket, every other round
		for range rng.IntN(2000) {
			must(t, h.RecordValues(int64(math.Exp(rng.Float64()*28)), 1+rng.Int64N(1<<(round%50))))
		}
		e := p.Get()
		c, err := CountsOf(h)
		must(t, err)
		ours, err := e.append(nil, c)
		must(t, err)
		theirs, err := hdrhistogram.Decode(ours)
		must(t, err)
		if !theirs.Equals(h) {
			t.Fatalf("round %d: hdrhistogram-go does not read the histogram that was written", round)
		}
		payload, err := h.EncodeV2()
		must(t, err)
		var back Counts
		must(t, d.AddTo(&back, payload))
		if !back.Histogram().Equals(h) {
			t.Fatalf("round %d: the histogram that was read is not what hdrhistogram-go wrote", round)
		}
		must(t, d.AddTo(&back, ours))
		if back.Total() != 2*h.TotalCount() || h.TotalCount() > 0 && back.max != h.Max() {
			t.Fatalf("round %d: adding twice gives %d of %d", round, back.Total(), h.TotalCount())
		}
		p.Put(e)
	}
	if _, err := CountsOf(hdrhistogram.New(1, 1000, 3)); err == nil {
		t.Error("a histogram of another configuration was taken")
	}
}

func TestHlogLineRoundTrip(t *testing.T) {
	var p Encoders
	h := latencies(10)
	c, err := CountsOf(h)
	must(t, err)
	for _, s := range []timebase.Span{{From: 0, To: 1}, {From: -1500000001, To: 7}, {From: 123456789012345, To: 123456789012346}} {
		for step, want := range map[string]string{"GET /a.b": "GET_/a.b", "x": "x", "a,b=c\n": "a_b_c_"} {
			line, err := LogLine(p.Get(), step, Lag, s, c)
			must(t, err)
			i, payload, err := parseLogLine(line, map[string]string{})
			must(t, err)
			if i.Span != s || i.Step != want || i.Kind != Lag {
				t.Errorf("%v of %q came back as %v of %q, %s", s, step, i.Span, i.Step, i.Kind)
			}
			var back Counts
			must(t, (&Decoder{}).AddTo(&back, payload))
			if !back.Histogram().Equals(h) {
				t.Error("another histogram came back")
			}
		}
	}
}

func TestQuantilesOf(t *testing.T) {
	if QuantilesOf(nil) != (Quantiles{}) || QuantilesOf(New()) != (Quantiles{}) {
		t.Error("an empty histogram has quantiles")
	}
	h := New()
	for i := int64(1); i <= 1000; i++ {
		must(t, h.RecordValue(i*int64(time.Millisecond)))
	}
	q := QuantilesOf(h)
	for _, c := range []struct {
		name string
		got  int64
		want float64
	}{{"min", q.Min, 1}, {"mean", q.Mean, 500.5}, {"p50", q.P50, 500}, {"p90", q.P90, 900}, {"p95", q.P95, 950},
		{"p99", q.P99, 990}, {"p99.9", q.P999, 999}, {"max", q.Max, 1000}} {
		if ms := float64(c.got) / 1e6; math.Abs(ms/c.want-1) > 0.001 {
			t.Errorf("%s is %v ms, want %v", c.name, ms, c.want)
		}
	}
}

func FuzzReadHlog(f *testing.F) {
	var p Encoders
	c, err := CountsOf(latencies(20))
	must(f, err)
	line, err := LogLine(p.Get(), "q", Latency, timebase.Span{From: 0, To: 1e8}, c)
	must(f, err)
	f.Add(append(LogHeader(time.Unix(1, 0)), line...))
	f.Add([]byte("Tag=q.latency,0.000,0.100,1.000,HISTFAAAAA==\n"))
	f.Add([]byte("Tag=q,,,,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Decoder
		var c Counts
		_ = ScanLog(bytes.NewReader(data), func(i Interval, offset int64, payload []byte) error { // an error or not, but no panic
			if i.To < i.From {
				t.Errorf("span %v", i.Span)
			}
			if at := data[offset : offset+int64(len(payload))]; !bytes.Equal(at, payload) {
				t.Errorf("payload %q lies at %q", payload, at)
			}
			if bytes.HasSuffix(payload, []byte("\n")) || strings.ContainsRune(string(i.Kind), '.') {
				t.Errorf("kind %q, payload %q", i.Kind, payload)
			}
			d.AddTo(&c, payload)
			c.Quantiles()
			return nil
		})
	})
}
