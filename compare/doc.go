// Package compare sets two recorded runs side by side: figures, where the
// time of the mean request and of the slowest hundredth differs, which functions' CPU
// differs, and a flame graph of the difference.
//
// It takes two opened records and needs nothing else. Figures are of windows of the
// steady spans, averaged in blocks long enough not to be correlated; costs are
// in ns per request. Changes are relative, of the second run against the first, + is
// worse.
//
// It decides nothing: the runs were made one after another, and whatever else changed
// in between is in the difference (Caveat, printed with each). Where a series is missing in
// a run, or a run is too short, Metric.Known is false and Metric.Why says so; a missing
// profile is an error of the flame graph only.
package compare
