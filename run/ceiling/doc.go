// Package ceiling reports what a machine allows at most: short measurements of its layers
// (round trips, system calls, new connections, TLS, JSON, the disk, a database), the
// kernel's limits, and which of them a load meets first.
//
// A ceiling is what a program that did nothing else would reach here, with client and
// server on the same CPUs, like redline and a local target. No service reaches it; a
// service near it gains nothing from changes to its own code.
//
// Layers is pure; Measure and ReadLimits look at the machine.
package ceiling
