// Package server talks to one PostgreSQL server: a connection that leaves no trace
// on a backend that a pooler may share, the queries by version, the server's clock
// and the CPU of its processes.
//
// A reading is one transaction and one round trip. Package postgres interprets the
// figures for the run and delivers them.
package server
