// Package histogram counts durations in HdrHistogram's buckets, all in one
// configuration, so that any two histograms can be merged, and writes them as the
// interval log that tools of the field read (latency.hlog).
//
// Quantiles know which of them are only lower bounds, because requests had not ended
// when the run did. It knows no folder: it reads and writes streams and lines.
package histogram
