// Package ceiling says what a machine allows at most: short measurements of its layers
// (round trips, system calls, new connections, TLS, JSON, the disk, a database), the
// kernel's limits, and which of them a load meets first.
//
// A ceiling is what a program that did nothing else would reach here, with client and
// server on the same CPUs as redline and a local target are. No service reaches it; a
// service that is near it gains nothing from its own code.
//
// Layers is pure; Measure and Limits look at the machine.
package ceiling
