package callstack

import "github.com/redline-go/redline/record"

// Domain returns the one role of Domains (or GCWork, GCIdle, GCAssist, Schedule,
// FileIO, FileWrite) that a CPU sample is booked on, and 0 for the service's own work. The
// outermost domain inside the handler wins: formatting inside a logger is
// logging, hashing inside a database handshake is the database client.
//
// GC assists are booked on GCAssist wherever they happen; a caller that wants
// the allocator's cost looks for Allocate itself.
func (x *Index) Domain(stack []record.Frame) Role {
	all := x.Roles(stack)
	switch {
	case all.Has(GCIdle):
		return GCIdle
	case all.Has(GCAssist):
		return GCAssist
	case all.Has(GCWork):
		return GCWork
	}
	inner := x.Handler(stack)
	if x.loggingWrapper(inner) {
		return Logging
	}
	for i := len(inner) - 1; i >= 0; i-- {
		role := x.Role(inner[i].Function) & Domains
		if role == 0 {
			continue
		}
		// A writer that ends in a file is a log by another name: fmt.Fprintf to
		// an *os.File in the request path costs what a logger costs.
		if role.Has(Format) && x.Roles(inner).Has(FileWrite) {
			return FileWrite
		}
		return role & -role
	}
	switch {
	case all.Has(FileWrite):
		return FileWrite
	case all.Has(FileIO | FileSync):
		return FileIO
	case all.Has(Schedule) && !all.Has(Server) && x.Innermost(stack) < 0:
		return Schedule
	}
	return 0
}

// loggingWrapper reports whether a stack is a logging middleware's own work.
func (x *Index) loggingWrapper(inner []record.Frame) bool {
	return x.Find(inner, Logging) < 0 && x.logging(inner)
}

// Serves reports whether a stack belongs to a server's goroutine, so to the
// handling of a request. Goroutines that a handler starts are not seen by it.
func (x *Index) Serves(stack []record.Frame) bool {
	return x.Roles(stack).Has(Server)
}
