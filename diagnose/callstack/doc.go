// Package callstack interprets Go call stacks: which frames are the user's, and
// which belong to the standard library, a database driver, a pool, an HTTP client,
// a logger, a JSON encoder. From that it derives what a blocked goroutine waits for
// and what a CPU sample was spent on.
//
// It decides by packages and functions of public libraries and of the runtime, never by
// names that a service chose. It recognises an unknown library by its calls (net, sync,
// time, os), so an unknown client still counts as a network wait of the user's call.
//
// It does not judge: it returns kinds, not causes.
//
// Regular expressions over function names were tried and rejected: a profile has
// thousands of distinct functions, and prefix rules that are looked up once per
// function are both faster and easier to check.
package callstack
