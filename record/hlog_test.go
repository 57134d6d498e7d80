package record

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// TestHdrCodec holds our codec against hdrhistogram-go's, in both directions.
func TestHdrCodec(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var p encoders
	var d hdrDecoder
	for round := range 40 {
		h := NewHistogram()
		must(t, h.RecordValues(HistogramHighest, int64(round%2))) // the last bucket, at times
		for range rng.IntN(2000) {
			must(t, h.RecordValues(int64(math.Exp(rng.Float64()*28)), 1+rng.Int64N(1<<(round%50))))
		}
		e := p.get()
		c, err := countsOf(h)
		must(t, err)
		ours, err := e.append(nil, c)
		must(t, err)
		theirs, err := hdrhistogram.Decode(ours)
		must(t, err)
		if !theirs.Equals(h) {
			t.Fatalf("round %d: hdrhistogram-go reads another histogram than was written", round)
		}
		payload, err := h.EncodeV2()
		must(t, err)
		var back Counts
		must(t, d.addTo(&back, payload))
		if !back.Histogram().Equals(h) {
			t.Fatalf("round %d: another histogram was read than hdrhistogram-go wrote", round)
		}
		must(t, d.addTo(&back, ours))
		if back.Total() != 2*h.TotalCount() || h.TotalCount() > 0 && back.max != h.Max() {
			t.Fatalf("round %d: adding twice gives %d of %d", round, back.Total(), h.TotalCount())
		}
		p.put(e)
	}
	if _, err := countsOf(hdrhistogram.New(1, 1000, 3)); err == nil {
		t.Error("a histogram of another configuration was taken")
	}
}

// TestHlogIsStandard reads the log with hdrhistogram-go's log reader.
func TestHlogIsStandard(t *testing.T) {
	w := create(t)
	fillBundle(t, w)
	f, err := os.Open(filepath.Join(w.Dir(), hlogFile))
	must(t, err)
	defer f.Close()
	r := hdrhistogram.NewHistogramLogReader(f)
	counts := map[string]int{}
	for {
		h, err := r.NextIntervalHistogram()
		must(t, err)
		if h == nil {
			break
		}
		counts[h.Tag()]++
		// Absolute times: the base is the run's epoch.
		if at := time.UnixMilli(h.StartTimeMs()).Sub(w.run.Clock.EpochWall); at < -time.Millisecond || at > 3*time.Second {
			t.Fatalf("an interval starts at %v", at)
		}
		if length := h.EndTimeMs() - h.StartTimeMs(); length < 99 || length > 101 {
			t.Fatalf("an interval of %d ms", length)
		}
	}
	if want := map[string]int{"query.latency": 20, "order.latency": 20, "order.service": 20}; !reflect.DeepEqual(counts, want) {
		t.Errorf("intervals %v", counts)
	}
}

func TestHlogLineRoundTrip(t *testing.T) {
	var p encoders
	h := latencies(10)
	c, err := countsOf(h)
	must(t, err)
	for _, s := range []Span{{0, 1}, {-1500000001, 7}, {123456789012345, 123456789012346}} {
		for step, want := range map[string]string{"GET /a.b": "GET_/a.b", "x": "x", "a,b=c\n": "a_b_c_"} {
			line, err := hlogLine(p.get(), step, Lag, s, c)
			must(t, err)
			i, payload, err := parseHlogLine(line, map[string]string{})
			must(t, err)
			if i.Span != s || i.step != want || i.kind != Lag {
				t.Errorf("%v of %q came back as %v of %q, %s", s, step, i.Span, i.step, i.kind)
			}
			var back Counts
			must(t, (&hdrDecoder{}).addTo(&back, payload))
			if !back.Histogram().Equals(h) {
				t.Error("another histogram came back")
			}
		}
	}
}

func TestQuantilesOf(t *testing.T) {
	if QuantilesOf(nil) != (Quantiles{}) || QuantilesOf(NewHistogram()) != (Quantiles{}) {
		t.Error("nothing has quantiles")
	}
	h := NewHistogram()
	for i := int64(1); i <= 1000; i++ {
		must(t, h.RecordValue(i*int64(time.Millisecond)))
	}
	q := QuantilesOf(h)
	for _, c := range []struct {
		name string
		got  int64
		want float64
	}{{"min", q.Min, 1}, {"mean", q.Mean, 500.5}, {"p50", q.P50, 500}, {"p90", q.P90, 900}, {"p95", q.P95, 950}, {"p99", q.P99, 990}, {"p99.9", q.P999, 999}, {"max", q.Max, 1000}} {
		if ms := float64(c.got) / 1e6; math.Abs(ms/c.want-1) > 0.001 {
			t.Errorf("%s is %v ms, want %v", c.name, ms, c.want)
		}
	}
}

func FuzzReadHlog(f *testing.F) {
	var p encoders
	c, err := countsOf(latencies(20))
	must(f, err)
	line, err := hlogLine(p.get(), "q", Latency, Span{0, 1e8}, c)
	must(f, err)
	f.Add(append(hlogHeader(time.Unix(1, 0)), line...))
	f.Add([]byte("Tag=q.latency,0.000,0.100,1.000,HISTFAAAAA==\n"))
	f.Add([]byte("Tag=q,,,,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d hdrDecoder
		var c Counts
		_ = scanHlog(bytes.NewReader(data), func(i interval, offset int64, payload []byte) error { // an error or not, but no panic
			if i.To < i.From {
				t.Errorf("span %v", i.Span)
			}
			if at := data[offset : offset+int64(len(payload))]; !bytes.Equal(at, payload) {
				t.Errorf("payload %q lies at %q", payload, at)
			}
			if bytes.HasSuffix(payload, []byte("\n")) || strings.ContainsRune(string(i.kind), '.') {
				t.Errorf("kind %q, payload %q", i.kind, payload)
			}
			d.addTo(&c, payload)
			c.Quantiles()
			return nil
		})
	})
}

// TestHlogIsStreamed reads a log of many short lines, of which none is wanted.
func TestHlogIsStreamed(t *testing.T) {
	dir := finished(t)
	f, err := os.OpenFile(filepath.Join(dir, hlogFile), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	block := strings.Repeat("Tag=q.lag,1.0,0.1,1.0,x\n", 1<<14)
	for range 64 { // 25 MB
		_, err := f.WriteString(block)
		must(t, err)
	}
	must(t, f.Close())
	r, err := Open(dir)
	must(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h, err := r.Histogram("", Latency, windows(0, 20))
	must(t, err)
	runtime.ReadMemStats(&after)
	// A line costs two short strings at most, for a moment; the index that was kept
	// once took 120 bytes a line, all the time.
	if live := int64(after.HeapAlloc) - int64(before.HeapAlloc); live > 30<<20 || h.TotalCount() != 80 {
		t.Errorf("%d MB are held after reading, %d values", live>>20, h.TotalCount())
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 60 {
		t.Errorf("reading allocated %d MB", took)
	}
}
