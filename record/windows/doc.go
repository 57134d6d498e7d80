// Package windows holds the values of a run's series, one per window, in memory and in
// their two forms on disk: a journal that a killed run leaves readable (windows.journal)
// and Parquet that other tools open (windows.parquet).
//
// Old windows of a long run are joined into wider ones, by a rule per series: amounts
// stay exact. It reads and writes streams and knows no folder, and it bounds what an
// untrusted file can make it allocate.
package windows
