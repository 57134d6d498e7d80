// Package storage holds the lab's experiments on databases, as lab/micro holds those that
// need one process alone: each is a Go benchmark with the name of its experiment, whose work
// is chosen by the side that runs it (lab/micro, Of), and beside it stands the test that its
// sides give the same answers.
//
// The databases are real: redline's experiment/servers starts PostgreSQL, a replica of it and
// Redis, once for all launches of an experiment or once for the tests of this package. A
// launch keeps to a schema of its own and drops it at its end. Commits are durable, since
// what many of these claims save is the wait for the disk.
package storage
