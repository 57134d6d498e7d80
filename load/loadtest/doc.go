// Package loadtest holds the counterparts of tests of protocols and the generator:
// the conformance of a protocol's wires (Wire, Survive), and servers on
// loopback that misbehave in the ways of real ones (Serve with a Behaviour, and
// the targets that are not about a server's answers: Refused, Backlog, TLS).
//
// A protocol calls Wire from its tests with one subject per kind of dialogue,
// and Survive from its fuzz test. A generator is run against each of the
// behaviours; the tests of this package do so for every kind of error that
// package load knows.
package loadtest
