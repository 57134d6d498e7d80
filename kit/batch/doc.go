// Package batch gathers items of many callers into groups, writes each group at once,
// and gives every caller its own result.
//
// It is for writes whose cost is per call rather than per item: a statement with many
// rows, a pipeline, an fsync, a request to another service. A [Writer] promises:
//
//   - An item is written at most once. If Do returns no error it was written; if Do
//     returns an error that is no [ErrUncertain], and no error of Flush, it was not.
//   - At most MaxSize items go into one group, at most Workers groups are written at a
//     time, and at most Queue items wait: callers beyond block until there is room, or
//     their context ends.
//   - A caller whose context ends before the write has begun takes its item back.
//   - A panic of Flush reaches the callers of its group as a [PanicError], and ends
//     nothing else.
//   - Close writes what was accepted, and refuses the rest.
//
// # The delay
//
// With MaxDelay 0, the default, a group is written as soon as a worker is free, and
// grows while all are busy (group commit): a lone caller does not wait for company, and
// under load the groups grow by themselves. A positive MaxDelay makes the first caller
// of a group wait for others, even if no one comes: it raises the latency at low load in
// exchange for fewer writes. Measure before setting it.
//
// # When not to use it
//
// Where a single write costs less than the hand-over between goroutines, some
// microseconds, batching only adds latency. It does not replace a queue: what is
// accepted lives in memory, and is lost with the process, which each caller sees because
// its Do has not returned. It does not retry, because only the caller knows whether a
// second write does harm. And items that must succeed or fail together belong into one
// item: the items of a group are strangers to each other.
package batch
