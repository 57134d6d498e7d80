// Package cpu holds the analyzers of what the service's CPU is spent on, from its
// CPU profile: JSON, logging, regular expressions, formatting, hashing,
// compression, its own functions; and of CPUs that are simply used up.
//
// Each sample is booked on one domain only: the outermost library inside the
// handler, so hashing inside a TLS handshake is TLS and JSON inside a logger is
// logging. Shares are of the whole process's CPU, collector and scheduler
// included, because that is what a remedy saves.
package cpu
