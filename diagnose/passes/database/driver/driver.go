// Package driver words remedies in the terms of the service's own database driver
// and mapper. It goes by the modules of the target's binary: users of lib/pq were
// once advised to set pgx's exec mode, which their driver does not have.
package driver

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
)

// Prepared says, in whole sentences, how the service's driver keeps prepared
// statements.
func Prepared(p *diagnose.Pass) string {
	orm := GORM(p, " With GORM, set PrepareStmt.")
	switch {
	case p.UsesOnly(callstack.PGX):
		const values, bouncer = ", and pass values as parameters.", " Through PgBouncer that takes version 1.21 or later, with " +
			"max_prepared_statements set."
		if p.Imports("github.com/jackc/pgx/v4") {
			return "Let pgx keep prepared statements: it does unless PreferSimpleProtocol is set or BuildStatementCache is nil" +
				values + bouncer + orm
		}
		return "Let pgx keep prepared statements: its default exec mode does (QueryExecModeCacheStatement), so do not set another" +
			values + bouncer + orm
	case p.UsesOnly(callstack.PQ):
		return "lib/pq prepares every query with parameters anew: call db.Prepare once at start-up and keep the statement, " +
			"or use pgx/stdlib, which caches statements; binary_parameters=yes in the DSN at least saves the round trip." + orm
	case p.UsesOnly(callstack.MySQL):
		return "Call db.Prepare once at start-up and keep the statement, or set interpolateParams=true in the DSN, which " +
			"saves the round trip." + orm
	}
	return "Keep prepared statements: call db.Prepare once at start-up, or use a driver that caches them; pass values as " +
		"parameters." + orm
}

// Postgres reports whether the database is known to be PostgreSQL, by the service's driver or by the server's statistics. Its
// arrays and COPY mean nothing to another one.
func Postgres(p *diagnose.Pass) bool {
	if p.Uses(callstack.PGX) || p.Uses(callstack.PQ) || p.Has(diagnose.NeedStatements) {
		return true
	}
	only := func(module string) bool { return len(p.Drivers()) == 0 && p.Imports(module) }
	return only("github.com/go-pg/pg") || only("github.com/uptrace/bun/driver/pgdriver")
}

// OnlyKeys is the condition that selects the rows of many keys with one statement.
func OnlyKeys(p *diagnose.Pass) string {
	if Postgres(p) {
		return "WHERE key = ANY($1)"
	}
	return "WHERE key IN (...)"
}

// FromArrays names how a statement reads the new values of many rows, with its beginning; "" where the database is not known to have
// arrays.
func FromArrays(p *diagnose.Pass, begins string) string {
	if Postgres(p) {
		return begins + "unnest($1::int[], ...)"
	}
	return ""
}

// Batch names how the service's driver writes several rows at once, as a noun phrase with its beginning; "" where no way of
// its own is known.
func Batch(p *diagnose.Pass, begins string) string {
	switch {
	case p.UsesOnly(callstack.PQ):
		return begins + "COPY by pq.CopyIn"
	case p.Uses(callstack.PGX):
		return begins + "COPY, pgx.Batch"
	case Postgres(p):
		return begins + "COPY"
	}
	return ""
}
