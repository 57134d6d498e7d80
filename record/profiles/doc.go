// Package profiles reads and merges pprof profiles within bounds: a profile may come
// from anyone, and a small file can claim to be a large one.
//
// Package stacks reads the stacks in them.
package profiles
