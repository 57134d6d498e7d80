// Package profiles reads and merges pprof profiles within bounds: a profile may come
// from anyone, and a small file can claim to be a large one.
//
// What the stacks in them are is package stacks' business.
package profiles
