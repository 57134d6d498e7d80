// Package gobench settles by how much Go benchmarks differ between two revisions
// or two environments, and names those that do not measure the work they claim to.
//
// Test binaries are built once per side and package. Each benchmark is then
// launched by itself, a side right after the other in random order, round after
// round: noise of the machine meets both. A side is first
// measured against itself, which shows the noise. What is decided, and how surely,
// is verify's: the logarithms of the rounds' ratios, Hodges-Lehmann with the
// signed-rank interval, Holm over all benchmarks and metrics.
//
// It does not decide early: the rounds are planned once it is known how long one
// takes. Running all benchmarks of a package in one launch, as go test -count
// does, was rejected: the two sides of a benchmark are then minutes apart.
//
// A binary's own layout in memory is part of a side and does not change between
// rounds. It can be worth some percent of a tight loop, without any change of the
// source that is measured.
package gobench
