package events

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every value lies within the edges of its bucket.
func TestBuckets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := []uint64{0, 1, 2, 3, 4, 5, 7, 8, 1<<42 - 1}
	for range 10000 {
		values = append(values, rng.Uint64()>>(22+rng.IntN(42)))
	}
	for _, v := range values {
		if i := bucket(v); float64(v) < edge(i) || float64(v) >= edge(i+1) {
			t.Fatalf("%d is in bucket %d, from %v to %v", v, i, edge(i), edge(i+1))
		}
	}
	if bucket(math.MaxUint64) != bucketCount-1 || bucket(1<<42) != bucketCount-1 {
		t.Error("large values are not in the last bucket")
	}
}

func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var h, first histogram
	values := make([]float64, 0, 20000)
	for i := range 40000 {
		v := uint64(math.Exp(8 + 4*rng.NormFloat64()/2))
		h.Buckets[bucket(v)]++
		h.Count++
		h.Sum += v
		if i == 19999 {
			first = h
		}
		if i >= 20000 {
			values = append(values, float64(v))
		}
	}
	slices.Sort(values)
	added := h.since(&first)
	if added.Count != 20000 {
		t.Fatalf("%d values were added", added.Count)
	}
	for _, q := range []float64{0.01, 0.5, 0.99} {
		want := values[int(q*float64(len(values)-1))]
		if got, ok := added.quantile(q); !ok || math.Abs(got-want) > want/4 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if most, _ := added.quantile(1); most < values[len(values)-1] || most > 1.25*values[len(values)-1]+1 {
		t.Errorf("max %v, want %v", most, values[len(values)-1])
	}
	if _, ok := (&histogram{}).quantile(0.5); ok {
		t.Error("an empty histogram has a median")
	}
}

func FuzzParseRetransmit(f *testing.F) {
	f.Add(make([]byte, retransmitSize))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseRetransmit(b)
		if (err == nil) != (len(b) >= retransmitSize) || err == nil && !r.remote.Addr().IsValid() {
			t.Errorf("%+v, %v from %d bytes", r, err, len(b))
		}
	})
}

// bucket returns the index of v's bucket, as bucket in bpf.h does.
func bucket(v uint64) int {
	switch {
	case v < 4:
		return int(v)
	case v>>42 != 0:
		return bucketCount - 1
	}
	e := bits.Len64(v) - 1
	return (e-1)*4 + int(v>>(e-2)&3)
}
