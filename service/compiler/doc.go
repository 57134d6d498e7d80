// Package compiler asks the Go compiler for its remarks on a service's code: which
// values it put on the heap and why, which functions it could not inline, which
// bounds checks it left in. It compiles packages anew with -gcflags=-json, which
// writes one file of remarks per source file, and reads those.
//
// The format is the compiler's own (cmd/compile/internal/logopt, version 0): a
// header and then one diagnostic per line, shaped as in the Language Server
// Protocol. Only remarks of the three kinds above are kept. The build cache does not
// interfere: the directory of the remarks is part of the flags, so the given packages
// are compiled each time, and only those.
package compiler
