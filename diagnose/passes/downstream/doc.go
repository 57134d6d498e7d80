// Package downstream holds the analyzers of calls to other services: slow ones,
// serial ones, connections and names looked up anew for each, deadlines that do not
// reach the socket, retries, and caches that never hit. They read the anatomy of
// requests, the goroutine profiles, and what the load met.
//
// What a dependency answers is not visible (no status, no body), and neither is the
// data that flows from one answer into the next call. What is visible is how often
// a request calls, along which of the user's functions, and how long it waits for
// each call; each cause documents what it infers from that.
//
// The analyzers go from the specific to the general. A slow call is only slow
// (Slow) after it was not a name being looked up, a connection being opened, a call
// without a deadline, one that is repeated, one of a sequence, or a cache's miss.
package downstream

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers, in the order of judgement.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{Names, Churn, Timeout, Retry, Serial, Cache, Slow}
}
