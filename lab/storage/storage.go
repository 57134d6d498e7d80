// Package storage holds the lab's experiments on databases, as lab/micro holds those that
// need only one process: each is a Go benchmark with the name of its experiment, whose work
// is chosen by the side that runs it (lab/micro, Of), and next to it is a test that its
// sides give the same answers.
//
// The databases are real: redline's experiment/servers starts PostgreSQL, a replica of it and
// Redis, once for all launches of an experiment or once for the tests of this package. Each
// launch uses its own schema and drops it at its end. Commits are durable, because many of
// these claims are about saving the wait for the disk.
package storage
