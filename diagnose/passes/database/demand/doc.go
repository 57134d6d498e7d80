// Package demand is what requests demand of their database: the part of their time
// and of the CPU that it takes, whoever counted it, and what is gained when some of
// it is not asked.
//
// A server that reports statements, the hooks of an instrumented build, and the
// waits in a trace each know a part; the functions take the best that a record has.
// The service demand of a request is its use of a resource, summed over its visits
// (Denning and Buzen 1978). For a database within the process (InProcess) that
// resource is the service's own CPU.
//
// It finds nothing: thresholds and causes are the analyzers'.
package demand
