package database

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
)

// mapper is the package of GORM, for which some remedies have a name of their own.
const mapper = "gorm.io/gorm"

// withGORM returns what to do by GORM's own means, after a separator, where the
// service uses it; else nothing.
func withGORM(p *diagnose.Pass, text string) string {
	if p.Imports(mapper) {
		return text
	}
	return ""
}

// keepPrepared says how the service's driver keeps prepared statements.
func keepPrepared(p *diagnose.Pass) string {
	orm := withGORM(p, " With GORM, set PrepareStmt.")
	switch {
	case p.UsesOnly(callstack.PGX):
		return "Let pgx keep prepared statements: its default exec mode does (QueryExecModeCacheStatement), " +
			"so remove what sets another, and pass values as parameters." + orm
	case p.UsesOnly(callstack.PQ):
		return "lib/pq prepares each query with parameters anew: call db.Prepare once at start and keep the " +
			"statement, or use pgx/stdlib, which caches them." + orm
	case p.UsesOnly(callstack.MySQL):
		return "Call db.Prepare once at start and keep the statement, or set interpolateParams=true in the DSN, which saves the round trip." + orm
	}
	return "Keep prepared statements: call db.Prepare once at start, or use a driver that caches them; pass values as parameters." + orm
}

// batch names how the service's driver writes several rows at once.
func batch(p *diagnose.Pass) string {
	if p.UsesOnly(callstack.PQ) {
		return "COPY by pq.CopyIn"
	}
	if p.Uses(callstack.PGX) {
		return "COPY, pgx.Batch"
	}
	return "COPY"
}
