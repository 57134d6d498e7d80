// Package driver words remedies in the terms of the service's own database driver
// and mapper. It goes by the modules of the target's binary: users of lib/pq were
// once advised to set pgx's exec mode, which their driver does not have.
package driver

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
)

// mapper is GORM's import path. Some remedies have a GORM name of their own.
const mapper = "gorm.io/gorm"

// GORM returns text, the remedy in GORM's terms with its separator, if the
// service is built with GORM; otherwise "".
func GORM(p *diagnose.Pass, text string) string {
	if p.Imports(mapper) {
		return text
	}
	return ""
}

// Prepared says, in whole sentences, how the service's driver keeps prepared
// statements.
func Prepared(p *diagnose.Pass) string {
	orm := GORM(p, " With GORM, set PrepareStmt.")
	switch {
	case p.UsesOnly(callstack.PGX):
		return "Let pgx keep prepared statements: its default exec mode does (QueryExecModeCacheStatement), so do not set " +
			"another, and pass values as parameters." + orm
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

// Batch names how the service's driver writes several rows at once, as a noun phrase.
func Batch(p *diagnose.Pass) string {
	if p.UsesOnly(callstack.PQ) {
		return "COPY by pq.CopyIn"
	}
	if p.Uses(callstack.PGX) {
		return "COPY, pgx.Batch"
	}
	return "COPY"
}
