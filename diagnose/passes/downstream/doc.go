// Package downstream holds the analyzers of calls to other services: slow ones,
// serial ones, a connection opened or a name looked up for each, deadlines that do
// not reach the socket, retries, and caches that never hit. They read the anatomy
// of requests, the goroutine profiles, and the load's results.
//
// A dependency's responses are not visible (neither status nor body), nor is the data
// that flows from one response into the next call. What is visible is how often a
// request calls, through which of the user's functions, and how long it waits for each
// call. Each cause documents what it infers from that.
//
// The analyzers go from the specific to the general. A call is reported as slow
// (Slow) only if it is not a name look-up, the opening of a connection, a call
// without a deadline, a repeated one, one of a sequence, or a cache miss.
package downstream

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers in the order in which they run.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{Names, Churn, Timeout, Retry, Serial, Cache, Slow}
}
