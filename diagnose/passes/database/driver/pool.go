package driver

import "strings"

// pools are the settings of connection pools, by a part of the pool's import path. database/sql's are those of all others.
var pools = []struct{ path, size, keep string }{
	{"github.com/jackc/", "MaxConns of pgxpool.Config, or pool_max_conns in the connection string",
		"Keep the pool's connections: leave MaxConnLifetime (an hour by default) and MaxConnIdleTime (30 minutes) at minutes or more, " +
			"and cancel no query that is under way, because pgx closes its connection"},
	{"github.com/go-pg/pg", "PoolSize in pg.Options",
		"Keep the pool's connections: set MinIdleConns in pg.Options near PoolSize, and leave MaxConnAge unset"},
	{"go.mongodb.org/mongo-driver", "SetMaxPoolSize, or maxPoolSize in the URI",
		"Keep the pool's connections: leave MaxConnIdleTime unset"},
	{"github.com/ClickHouse/", "MaxOpenConns and MaxIdleConns in clickhouse.Options",
		"Set MaxIdleConns to the value of MaxOpenConns in clickhouse.Options, and ConnMaxLifetime to minutes or more"},
}

// PoolSize names the settings of the size of a pool, by the import path of its package.
func PoolSize(pkg string) string {
	for _, p := range pools {
		if strings.HasPrefix(pkg, p.path) {
			return p.size
		}
	}
	return "SetMaxOpenConns and SetMaxIdleConns with database/sql"
}

// Keep is the remedy for a pool that closes connections which it needs a moment later, by the import path of its package, as a
// sentence without its end. "" is a connection that is opened without a pool.
func Keep(pkg string) string {
	if pkg == "" {
		return "Open a pool once, at start-up (pgxpool.New, or sql.Open), and take connections from it, instead of opening one each time"
	}
	for _, p := range pools {
		if strings.HasPrefix(pkg, p.path) {
			return p.keep
		}
	}
	return "Set SetMaxIdleConns to the value of SetMaxOpenConns (database/sql keeps 2 idle by default, and none if it is set to 0 " +
		"or less), and ConnMaxLifetime and ConnMaxIdleTime to minutes or more"
}
