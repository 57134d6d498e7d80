// Package server is the conversation with one PostgreSQL server: a connection that
// leaves no trace on a backend which a pooler may share, the queries by version, the
// server's clock and the CPU of its processes.
//
// A reading is one transaction and one round trip. What the figures mean for the run is
// the business of package postgres: nothing is delivered here.
package server
