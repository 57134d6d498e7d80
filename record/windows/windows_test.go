package windows

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/redline-go/redline/record/series"
)

func TestParquetLarge(t *testing.T) {
	in := newTable()
	for s := range 300 {
		i, err := in.define(series.Series{Name: fmt.Sprintf("series.%d", s/3), Labels: fmt.Sprintf("l=%d", s%3), Unit: "ns"})
		must(t, err)
		for w := range int64(600) {
			if (w+int64(s))%7 != 0 {
				must(t, in.addJoined(i, w-10, float64(w)*math.Pi, 1, 1))
			}
		}
	}
	in.Finish()
	var b bytes.Buffer
	must(t, WriteParquet(&b, in))
	out := newTable()
	must(t, ReadParquet(bytes.NewReader(b.Bytes()), int64(b.Len()), out))
	out.Finish()
	a, z := in.ordered, out.ordered
	if !reflect.DeepEqual(a, z) {
		t.Errorf("%d columns and %d points came back as %d and %d", len(a), in.points, len(z), out.points)
	}
	t.Logf("%d points in %d bytes", in.points, b.Len())
}

func FuzzReadParquet(f *testing.F) {
	t := newTable()
	for i := range int64(300) {
		s, _ := t.define(series.Series{Name: string(rune('a' + i%3)), Unit: "1"})
		t.addJoined(s, i/3, float64(i), 1, 1)
	}
	t.Finish()
	var b bytes.Buffer
	must(f, WriteParquet(&b, t))
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		ReadParquet(bytes.NewReader(data), int64(len(data)), newTable())
	})
}

func FuzzReadJournal(f *testing.F) {
	e := NewEncoder(Units{}, nil)
	for i := range int64(5) {
		must(f, e.Add(series.Point{Window: i, Series: series.Series{Name: "a", Labels: "b=c", Unit: "ns"}, Value: 1}))
	}
	frame, _ := e.Seal()
	f.Add(append([]byte(JournalMagic), frame...))
	f.Add([]byte(JournalMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		table := newTable()
		if _, err := ReadJournal(bytes.NewReader(data), table, 1); err == nil {
			table.Finish()
			table.Span()
		}
		// Frames behind the checksum, which a fuzzer does not get past.
		decodeFrame(data, nil, newTable(), 1)
	})
}

// TestFlippedBytes flips one bit of every third byte of a Parquet file, one at a time: an
// error or other values may come of it, but no panic.
func TestFlippedBytes(t *testing.T) {
	in := newTable()
	for _, s := range []series.Series{{Name: "a", Unit: "1"}, {Name: "b", Labels: "q=p50", Unit: "ns"},
		{Name: "b", Labels: "q=p99", Unit: "ns"}} {
		i, err := in.define(s)
		must(t, err)
		for w := range int64(21) {
			must(t, in.addJoined(i, w-1, float64(w), 1, 1))
		}
	}
	in.Finish()
	var b bytes.Buffer
	must(t, WriteParquet(&b, in))
	data := b.Bytes()
	for i := 0; i < len(data); i += 3 { // coprime to 8, so every bit has its turn
		mask := byte(1) << (i % 8)
		data[i] ^= mask
		ReadParquet(bytes.NewReader(data), int64(len(data)), newTable())
		data[i] ^= mask
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestJoining: windows of a counter are added up, whoever named it; of the others the rule
// follows from the quantile and the catalogue.
func TestJoining(t *testing.T) {
	for of, want := range map[series.Series]joining{
		{Name: series.LoadRequests}:                                    joinSum,
		{Name: series.LoadInFlight}:                                    joinLast,
		{Name: series.LoadLatency, Labels: "q=p50"}:                    joinMean,
		{Name: series.LoadLatency, Labels: "q=p99"}:                    joinMost,
		{Name: series.SocketsAcceptQueue, Labels: "listen=:80"}:        joinMost,
		{Name: "/gc/heap/live:bytes"}:                                  joinLast,
		{Name: "/gc/heap/allocs:bytes"}:                                joinSum,
		{Name: "/process/cpu/user:cpu-seconds"}:                        joinSum,
		{Name: "/sched/latencies:seconds", Labels: "q=count"}:          joinSum,
		{Name: "/sched/latencies:seconds", Labels: "q=max"}:            joinMost,
		{Name: "/gc/heap/allocs-by-size:bytes", Labels: "size=le4096"}: joinSum,
	} {
		if got := joiningOf(of); got != want {
			t.Errorf("%s{%s}: %d, want %d", of.Name, of.Labels, got, want)
		}
	}
}
