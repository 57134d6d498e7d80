// Package deadline nests time limits at a small, flat cost.
//
// Where each layer of a service calls context.WithTimeout, a request that passes fifty
// layers registers fifty contexts with each other and starts fifty timers, of which only
// the soonest can ever matter. [WithTimeout] and [WithDeadline] of this package are
// drop-in replacements that keep the meaning and defer the work: a layer only notes its
// limit. Whoever first waits (calls Done, as a database driver or a socket does) starts
// one timer for the soonest limit of all layers above, and one registration with the
// context that the chain hangs on.
//
// # Meaning
//
// As with the standard library, a context ends when its own cancel function is called,
// when its limit has passed, or when any context above it ends; cancelling a layer ends
// all below it and none above. Deadline reports the soonest limit. Contexts of both kinds
// and values nest in any order; each context of another kind in between, values excepted,
// begins a new flat chain. Five differences remain:
//
//   - A context that nobody has waited on looks at the clock when Err is called. If its
//     limit passed and it was cancelled too before anyone looked, Err may report either
//     reason.
//   - When a context of another kind above ends, Err reports it at once, but Done closes
//     a moment later, in a goroutine of its own (as with context.AfterFunc).
//   - Err of a context that nobody has waited on walks the chain: linear in its depth.
//   - context.Cause of a context that ended by itself reports the cause of a standard
//     context above if that one has ended since.
//   - go vet knows only the standard functions: it does not report a cancel function that
//     is never called. Until the limit passes, a context that was waited on then keeps
//     its timer, as with the standard library.
//
// # When not to use it
//
// If a layer's limit is not shorter than what is left of the request, it needs no context
// at all: pass on the one received. That is cheaper than this package, and simpler. For
// chains of two or three the standard library is good enough. For a request that fans
// out into hundreds of goroutines that all wait, its tree is better: here a cancelled
// context with others below it looks at each one that is waited on.
//
// Replacing the context by context.Background or WithoutCancel to cut a chain is no
// alternative: the work below then outlives its request.
package deadline
