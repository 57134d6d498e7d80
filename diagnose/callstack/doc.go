// Package callstack knows what a Go call stack means: which frames are the
// user's, which belong to the standard library, a database driver, a pool, an
// HTTP client, a logger, a JSON encoder; hence what a blocked goroutine waits
// for and what a CPU sample was spent on.
//
// It decides by packages and functions of public libraries and of the runtime, never by
// names that a service chose. It recognises an unknown library by what that calls (net,
// sync, time, os), so an unknown client still reads as a network wait of the user's own
// call.
//
// It does not judge: it returns kinds, not causes, and has no thresholds.
//
// Regular expressions over function names were tried and rejected: a profile has
// thousands of distinct functions, and prefix rules that are looked up once per
// function are both faster and easier to check.
package callstack
