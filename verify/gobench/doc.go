// Package gobench determines how much Go benchmarks differ between two revisions or two
// environments, and reports those that do not measure what they claim to.
//
// Test binaries are built once per side and package. Each benchmark is then launched
// separately, one side right after the other in random order, round after round, so that
// machine noise affects both. First a side is compared with itself, which shows the
// noise. verify decides, and knows how surely: the logarithms of the rounds' ratios,
// Hodges-Lehmann with the signed-rank interval, Holm over all benchmarks and metrics.
//
// It does not decide early: the rounds are planned once the time of one is known.
// Running all benchmarks of a package in one launch, as go test -count does, was
// rejected, because the two sides of a benchmark are then minutes apart.
//
// The memory layout of a binary is part of its side and does not change between
// rounds. It can be worth some percent of a tight loop without any change of the
// measured source (Mytkowicz et al., Producing Wrong Data Without Doing Anything
// Obviously Wrong!, ASPLOS 2009).
//
// A session goes through the files in this order: options, build, discover, session
// (the rounds, each a launch whose output read parses), decide, profile, traps (with
// package loops, which reads how a benchmark is written), conclude, report, text.
package gobench
