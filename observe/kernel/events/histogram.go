package events

// bucketCount is BUCKETS of bpf.h.
const bucketCount = 168

// histogram is struct histogram of bpf.h: ns in four buckets to each power of
// two.
type histogram struct {
	Count, Sum uint64
	Buckets    [bucketCount]uint64
}

// edge returns the lowest value of a bucket, in ns. Past the last one it returns
// where that one would end if it were like the others.
func edge(i int) float64 {
	if i < 4 {
		return float64(i)
	}
	e := i/4 + 1
	return float64(uint64(4+i%4) << (e - 2))
}

// add adds another histogram, of another CPU.
func (h *histogram) add(o *histogram) {
	h.Count += o.Count
	h.Sum += o.Sum
	for i, n := range o.Buckets {
		h.Buckets[i] += n
	}
}

// since returns the counts added since an earlier reading of the same histogram.
// While it is read the kernel continues to count, so Count is made to fit.
func (h *histogram) since(earlier *histogram) histogram {
	d := histogram{Sum: h.Sum - earlier.Sum}
	for i, n := range h.Buckets {
		if n > earlier.Buckets[i] {
			d.Buckets[i] = n - earlier.Buckets[i]
			d.Count += d.Buckets[i]
		}
	}
	return d
}

// quantile returns the value below which a share q of the values lies, in ns, as if
// those of a bucket were spread evenly over it. ok is false without values.
func (h *histogram) quantile(q float64) (ns float64, ok bool) {
	rank := q * float64(h.Count)
	below := 0.0
	for i, n := range h.Buckets {
		if n == 0 {
			continue
		}
		if in := float64(n); below+in >= rank {
			return edge(i) + (edge(i+1)-edge(i))*max(0, rank-below)/in, true
		}
		below += float64(n)
	}
	return 0, false
}
