// Package database holds the analyzers of time spent in, before and around a SQL
// database: slow and repeated statements, row locks, connection pools.
//
// Waiting for a database on the same saturated host is using its CPU, so these
// causes are proved by what the database was asked to do (rows and blocks per
// call, calls per request, sessions per request) and not by how long requests
// wait for it: a service with fast, indexed queries may spend all its time
// waiting for them and still be healthy.
package database

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers, in the order of judgement.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{
		Stampede, ConnLeak, IdleInTx, LockWait, SlowQuery, NPlusOne, PoolChurn, Unprepared, WriterLock, PoolWait, Saturated,
	}
}
