// Package pool keeps a bounded number of connections open and lends them out one
// caller at a time.
//
// It serves any resource with a Close method: sockets, clients of a wire protocol,
// gRPC connections. A [Pool] never holds more than MaxOpen of them, counted until
// their Close has returned; it closes all that it drops, whatever the reason; and it
// reports how often it could reuse one.
//
//   - Get with an idle connection costs two uncontended locks together with Release,
//     and allocates nothing.
//   - Callers beyond MaxOpen wait in order of arrival, until their context ends or
//     MaxWait has passed.
//   - Dialling runs apart from its caller: a caller that gives up does not abort a
//     dial that the next one needs, and takes a released connection if that is sooner.
//   - A breaker stops dialling after consecutive failures, and tries one dial at a time
//     until one succeeds.
//   - Connections end by age (with jitter, so that those dialled together do not end
//     together), by idleness, when a check fails, and when the caller reports them broken.
//
// # When not to use it
//
// database/sql and pgxpool already pool their connections: a second pool around them
// hides theirs. http.Transport pools too. A protocol that multiplexes (HTTP/2, gRPC)
// needs more than one connection only where a single one is the bottleneck: measure
// that first. A sync.Pool is no alternative: the garbage collector drops what it holds
// without Close, which leaks a socket until its finalizer runs, and its size has no
// bound.
//
// For a pool with neither checks nor limits on age nor a breaker, github.com/jackc/puddle
// is the well-kept choice.
//
// # Clock
//
// Reading the clock would double the cost of Get. Ages and idle times are therefore
// measured by a timer that ticks eight times per shortest limit while connections are
// open: a limit is kept to within an eighth of the shortest one. After the process was
// frozen (a suspended machine, a stopped container) the first Get may come before the
// first tick, and lend a connection that the limits would have ended.
package pool
