package histogram

// Censored returns the figures of c together with values that are only lower bounds:
// the ages of requests that had not ended when the run did. Without any it is
// Quantiles.
//
// It is the product-limit estimator of Kaplan and Meier (Nonparametric
// Estimation from Incomplete Observations, Journal of the American Statistical
// Association 53, 1958), which Efron (The Two Sample Problem with Censored Data,
// 1967) showed to be the same as giving each unfinished value's share, in equal
// parts, to all that are larger. So a request that was cut off young counts neither as
// fast nor as slow, and one that is older than all ended ones adds to the tail. Within
// a bucket the ended ones come first.
//
// It is known which share of the distribution lies beyond the largest ended value, but
// not where. A percentile that falls there is a lower bound, and AtLeast marks it: it
// is the percentile of c and open taken at face value, each of which is no larger than
// the true one, and not below the largest ended value. The mean is then that of the
// two at face value.
//
// The estimator assumes that unfinished values do not differ from those that took as
// long and ended. If a target gets slower during the run that is too optimistic, which
// is why more than a few unfinished requests void a run.
func (c *Counts) Censored(open *Counts) Quantiles {
	if open == nil || open.total == 0 {
		return c.Quantiles()
	}
	var all Counts
	all.Merge(c)
	all.Merge(open)
	q := all.Quantiles() // the sure part: each value at least
	q.Unfinished = open.total
	percentiles := [...]*int64{&q.P50, &q.P90, &q.P95, &q.P99, &q.P999}
	next, mean := 0, 0.0
	beyond := 1.0 // share of the distribution above the buckets so far
	left := all.total
	for _, b := range all.both(c, open) {
		if b.ended > 0 {
			part := beyond * float64(b.ended) / float64(left)
			beyond -= part
			mean += part * float64(b.from+(b.to-b.from+1)/2)
			for next < len(percentiles) && reached(1-beyond, quantilesReported[next], all.total) {
				*percentiles[next] = min(b.to, c.max)
				next++
			}
		}
		left -= b.ended + b.open
	}
	if beyond < 0.5/float64(all.total) { // rounding: nothing is unfinished beyond the last
		q.Mean = int64(mean)
		return q
	}
	q.AtLeast = 100
	if next < len(percentiles) {
		q.AtLeast = quantilesReported[next]
	}
	for ; next < len(percentiles); next++ {
		*percentiles[next] = max(*percentiles[next], c.max)
	}
	return q
}

// reached reports whether a share of all values is at least the percentile, with
// rank's rounding.
func reached(share, percentile float64, total int64) bool {
	const slack = 1e-6 // of a value, for the rounding of the product
	return share*float64(total) >= float64(rank(percentile, total))-slack
}

// bothBucket is a bucket of two histograms.
type bothBucket struct{ from, to, ended, open int64 }

// both returns the buckets of c, which is ended and open together, in order.
func (c *Counts) both(ended, open *Counts) (all []bothBucket) {
	at := hdrIndex(c.min)
	for i, n := range c.used() {
		if n == 0 {
			continue
		}
		low, width := hdrBucket(at + i)
		b := bothBucket{from: low, to: low + width - 1, open: n}
		if ended.buckets != nil {
			b.ended = ended.buckets[at+i]
			b.open -= b.ended
		}
		all = append(all, b)
	}
	return all
}
