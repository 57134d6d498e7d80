// Package memory holds the analyzers of allocation and garbage collection: one
// site that allocates most, collection that takes the CPU, assists that requests
// pay for.
//
// What collection costs comes from the CPU profile and the execution trace.
// /cpu/classes/gc/* moves only once per cycle and is used over the whole steady
// span or not at all; assists are never taken from it.
package memory
