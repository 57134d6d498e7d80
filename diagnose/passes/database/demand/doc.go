// Package demand computes what requests demand of their database: the part of their
// time and of the CPU that it takes, and what is gained by demanding less of it.
//
// A server that reports statements, the hooks of an instrumented build, and the
// waits in a trace each show a part; the functions use the best that a record has.
// The service demand of a request is its use of a resource, summed over its visits
// (Denning and Buzen 1978). For a database within the process (InProcess) that
// resource is the service's own CPU.
//
// It makes no findings: thresholds and causes belong to the analyzers.
package demand
