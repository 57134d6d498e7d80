// Package export shows a run to the tools that a team has already while the run
// goes on: Prometheus (a page to scrape, or remote write), any receiver of OTLP
// metrics, and Pyroscope for profiles.
//
// A Tee stands between the run and its record. Its cost to the run is one copy
// of each point: everything else happens on a goroutine that wakes once a second,
// and on one per receiver. A receiver that is slow or gone costs values that are
// dropped and counted, never time of the run; the loss is reported once, when
// the Tee is closed. The record has all of it regardless.
//
// Windows are sent whole, two seconds after their end, because sources deliver some of
// their points late. Counters become totals since the run began, as
// rate() and its likes expect; an amount that comes after its window was sent
// lands in the next one. A gauge that comes so late is dropped.
//
// The package interprets nothing and reads no bundle. It was tried to read the
// record's journal instead of copying points: that couples exporters to a file
// that is written twice a second and has no histograms.
package export
