// Package loops reads how Go benchmarks are written: where their measuring loops
// are, what is timed before them, which results they drop, and what they prepare in
// every iteration.
//
// It goes by types, so it needs packages that compile, and by the order of
// statements, as if every branch ran. What it returns are suspicions: whether a
// figure suffers is for the caller to measure. It judges no figure and runs nothing
// but the go command (through golang.org/x/tools/go/packages).
package loops
