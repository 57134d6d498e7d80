// Package database is the schema of statements.json: a PostgreSQL server as the run saw
// it, with statements and their plans, tables and indexes, and sessions that waited.
//
// Figures are the server's own; field names follow its views and its EXPLAIN.
package database
