// Package baseline keeps one side's blocks of a session for later comparison, and decides
// whether they are comparable.
//
// A Baseline is a JSON file (redline.baseline/1): blocks, commit, and the Circumstances
// they were measured in: host, GOMAXPROCS, Go version, a fingerprint of the scenario,
// lengths in ns. Differences names every field in which two of them differ, with both
// values; Usable makes an error of that.
//
// A file may come from elsewhere: its size, its blocks and every value in them are
// bounded, and an unsound baseline is an error that says why. Writing one is whole
// or not at all.
package baseline
