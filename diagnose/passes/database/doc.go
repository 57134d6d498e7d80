// Package database holds the analyzers of time spent in, before and around a SQL
// database: slow and repeated statements, row locks, connection pools.
//
// Waiting for a database on the same saturated host is using its CPU, so these
// causes are proved by the work the database was given (rows and blocks per call,
// calls per request, sessions per request) and not by how long requests wait for
// it: a service with fast, indexed queries may spend all its time waiting for them
// and still be healthy.
//
// There are three levels of evidence. A server with pg_stat_statements counts
// calls, time, rows and blocks (PostgreSQL manual, pg_stat_statements), but not who
// calls. The hooks of an instrumented build count callers, but not the server's
// work. The execution trace has only waits, and infers the rest. Analyzers take the
// best there is and lower confidence otherwise.
//
// For SQLite the database is in the process: its time is the service's CPU, and
// nothing waits for a response. Its rules are in demand/inprocess.go, slow/sqlite.go and
// writerlock.go.
package database

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
)

// Analyzers returns the package's analyzers in the order in which they run.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{
		Stampede, ConnLeak, IdleInTx, LockWait, slow.Query, NPlusOne, PoolChurn, Unprepared, WriterLock, PoolWait, Saturated,
	}
}
