// Package code names positions in the target's code: frames of call stacks, without the
// wrappers of redline's own build, and the schema of compiler.json, the compiler's
// remarks on the lines that cost most.
package code
