// Package machine measures what a machine and its Go toolchain do by themselves, keeps
// that as a machine baseline, and says where two of them differ.
//
// Four dimensions: compute, HTTP path, memory and GC, scheduler; besides them the kernel,
// and a disk and a database where they are named. A session is rounds spread over its
// time, each in a process of its own, because a process keeps its luck with memory layout
// for its life. The spread between rounds is the error of a figure: nothing within a round
// is taken for a repetition.
//
// Two baselines cannot be interleaved, so machines that wander from hour to hour would
// differ without having changed. A figure has drifted only if its interval lies beyond a
// margin, and intervals are simultaneous: over all figures of a comparison, at most one in
// a hundred comparisons of unchanged machines reports drift as far as rounds are exchangeable.
//
// What disturbs a session (a CPU quota, steal, work of others) is measured beside it and
// stated; it does not change the figures.
package machine
