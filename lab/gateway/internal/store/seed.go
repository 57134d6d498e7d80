package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// seedVersion changes with schema.sql and seed.sql.
const seedVersion = 1

// seedLock is the advisory lock that lets one process seed at a time; any
// number that nobody else uses will do.
const seedLock = 7_301_946

//go:embed schema.sql
var schemaSQL string

//go:embed seed.sql
var seedSQL string

// Size is how much is seeded.
type Size struct {
	Users  int // at least 1
	Orders int // a multiple of Users: each user has as many
	Banks  int
}

// FullSize is what the scenarios expect.
var FullSize = Size{Users: 20_000, Orders: 200_000, Banks: 50_000}

// Seed fills an empty database, in one transaction. It reports false if a seed of
// the same version and size is already there; any other content is an error, so
// that no table of another program is touched.
func Seed(ctx context.Context, dsn string, size Size) (seeded bool, err error) {
	if size.Users < 1 || size.Banks < 1 || size.Orders < size.Users || size.Orders%size.Users != 0 {
		return false, fmt.Errorf("seed: %d orders are not a multiple of %d users", size.Orders, size.Users)
	}
	db, err := connect(dsn, false)
	if err != nil {
		return false, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return false, fmt.Errorf("seed: %w", err)
	}
	defer conn.Close()
	if seeded, err = seedOnce(ctx, conn, size); err != nil {
		return false, fmt.Errorf("seed: %w", err)
	}
	if seeded {
		// Statistics, and the visibility map, as a database has that was not
		// filled a moment ago. Otherwise autovacuum would do it during a
		// measurement.
		if _, err := conn.ExecContext(ctx, "VACUUM (ANALYZE)"); err != nil {
			return false, fmt.Errorf("seed: %w", err)
		}
	}
	return seeded, nil
}

func seedOnce(ctx context.Context, conn *sql.Conn, size Size) (bool, error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock("+strconv.Itoa(seedLock)+")"); err != nil {
		return false, err
	}
	there, err := seededSize(ctx, tx)
	switch {
	case err != nil:
		return false, err
	case there == size:
		return false, nil
	case there != Size{}:
		return false, fmt.Errorf("the database holds a seed of another size (%+v)", there)
	}
	fill := strings.NewReplacer("$orders", strconv.Itoa(size.Orders), "$users", strconv.Itoa(size.Users), "$banks",
		strconv.Itoa(size.Banks))
	for _, step := range []string{schemaSQL, fill.Replace(seedSQL), afterSQL} {
		// The simple protocol runs several statements at once. Tables made and
		// filled in one transaction skip the write-ahead log under wal_level
		// minimal.
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return false, err
		}
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf(`CREATE TABLE gateway_seed (version int, users int, orders int, banks int);
		INSERT INTO gateway_seed VALUES (%d, %d, %d, %d)`, seedVersion, size.Users, size.Orders, size.Banks))
	if err != nil {
		return false, err
	}
	return true, tx.Commit()
}

// afterSQL does what is faster once the rows are there: keys, indexes, and the
// start of new orders' numbers.
const afterSQL = `
ALTER TABLE orders ADD PRIMARY KEY (id);
ALTER TABLE order_items ADD PRIMARY KEY (id);
ALTER TABLE order_events ADD PRIMARY KEY (id);
CREATE INDEX order_items_order_idx ON order_items (order_id);
CREATE INDEX order_events_order_idx ON order_events (order_id);
CREATE UNIQUE INDEX orders_idempotency_idx ON orders (idempotency_key, user_id) WHERE idempotency_key IS NOT NULL;
SELECT setval(pg_get_serial_sequence('orders', 'id'), max(id)) FROM orders;
`

// queryer is what seededSize asks: a pool or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// seededSize returns what is seeded, the zero Size for a database without our
// tables, and an error for tables that are not ours.
func seededSize(ctx context.Context, q queryer) (Size, error) {
	var marker, orders bool
	err := q.QueryRowContext(ctx,
		"SELECT to_regclass('gateway_seed') IS NOT NULL, to_regclass('orders') IS NOT NULL").Scan(&marker, &orders)
	if err != nil {
		return Size{}, err
	}
	if !marker {
		if orders {
			return Size{}, errors.New("the database holds a table orders that is not the gateway's: give an empty database")
		}
		return Size{}, nil
	}
	var version int
	var s Size
	err = q.QueryRowContext(ctx, "SELECT version, users, orders, banks FROM gateway_seed").Scan(&version, &s.Users, &s.Orders, &s.Banks)
	if err != nil {
		return Size{}, err
	}
	if version != seedVersion {
		return Size{}, fmt.Errorf("the database holds a seed of version %d, this gateway wants %d: give an empty database",
			version, seedVersion)
	}
	return s, nil
}

func checkSeeded(ctx context.Context, db *sql.DB) error {
	size, err := seededSize(ctx, db)
	if err != nil {
		return fmt.Errorf("look for the seed: %w", err)
	}
	if size == (Size{}) {
		return errors.New("the database is not seeded: run `gateway seed`, or start with --seed")
	}
	return nil
}

// setIndex brings the index for the hot query to its switch. Dropping it at a
// start is for the lab: a remedy must be measurable against the same rows.
func setIndex(ctx context.Context, db *sql.DB, want bool) error {
	statement := "DROP INDEX IF EXISTS orders_user_created_idx"
	if want {
		statement = "CREATE INDEX IF NOT EXISTS orders_user_created_idx ON orders (user_id, created_at)"
	}
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("set the index: %w", err)
	}
	return nil
}
