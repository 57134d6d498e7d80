// Package verify determines whether one version of a service is faster or slower
// than another, and reports the error rates of its verdicts.
//
// Two sides are measured in blocks, one of each side to a pair, in random order within
// the pair, and both are relaunched for every block: a single launch of identical
// binaries once differed by a "significant" 2.9 %, so a launch is the smallest unit of
// repetition. If both sides can be up at once, they take turns of a fraction of a second
// under the load, so that machine noise affects both; that two versions are best measured
// at the same time is shown by Bulej et al., "Duet Benchmarking: Improving Measurement
// Accuracy in the Cloud" (ICPE 2020). The natural logarithm of the ratio of a pair's two
// values is one difference; the decision rests on those differences alone:
//
//   - location and interval: Hodges-Lehmann with the exact signed-rank interval;
//     percentiles of latency by the bootstrap over pairs of blocks' histograms;
//   - a look at the first pairs ends the session where they differ beyond any doubt (Early);
//     it spends a twentieth of Rules.Alpha;
//   - the test corrects for several looks at growing data (O'Brien-Fleming) and for several
//     metrics (Holm), so that the chance of any false regression in a session stays
//     below Rules.Alpha/2, and that of passing a regression of the margin's size below
//     5 %;
//   - a metric regresses when its interval excludes zero and the estimate exceeds
//     half the margin; it passes when its one-sided bound lies inside the margin and,
//     before the last look, no improvement is in sight; otherwise it is inconclusive,
//     and more pairs are measured up to a cap;
//   - a guard is an advisory metric: it never delays a pass, but fails the session when it is
//     worse by its whole margin; guards share a tenth of the error rate.
//
// A side is compared with itself as well. Together with the residuals of the compared
// pairs, that shows the noise of this machine and service today, from which the smallest
// detectable effect and, by simulation, the false-regression rate follow. For pairs that
// took turns, EstimateComponents splits the noise into components, which determine the
// number of turns per launch.
//
// DecideAgainst compares with the stored blocks of an earlier session instead, where
// measuring both sides is too expensive: unpaired, wider by the machine's possible drift
// in between, and without a known false-regression rate. Only there does a pass also
// require that a change of the margin's size is detectable.
//
// The package only decides: it takes Blocks and Pairs, values by metric in ns, bytes, 1/s
// or counts, and returns a Result. It opens no file, starts no process and reads no
// clock, so that a verdict can be repeated from the record, and its error rate simulated.
// A missing measurement is not an error, but keeps a metric from passing: missing values
// make it inconclusive, and say so in Why. session/ measures, baseline/ stores, render/
// writes, and gobench/ decides about Go benchmarks by the same rules.
//
// Tried and rejected: before/after in two long runs (identical binaries differed in 10 of
// 21 comparisons on a 2-core machine); sums of threads' CPU (a thread that ends takes its
// CPU time along); the t test (one stalled block makes it useless).
//
// Also rejected: load on both sides at the same time, as in that paper. In a dozen pairs
// of a gateway on two cores, a request then took 40 % more CPU, and a pair varied by 8 %,
// against 4 to 6 % with turns; and a wait that both share hides which side causes it.
//
// Also rejected: covariates for the speed of the machine (the analysis of covariance,
// CUPED). The CPU that the load generator takes per request explains half of the variance
// between blocks, but the side affects it too: a side that took 27 % more made the
// generator 15 % more expensive, and the adjustment would have hidden two fifths of the
// change. A thread that does a fixed piece of work every 20 to 40 ms is hardly affected
// by the side (0.4 % in that case), but explains too little: the deviation of a pair's
// difference fell from 7.1 % to 6.6 %.
package verify
