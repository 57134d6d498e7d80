package storage

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/redline-go/redline/lab/micro"
)

// unitTables are what an order of the experiment writes.
const unitTables = `
	CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, account bigint NOT NULL, cents bigint NOT NULL);
	CREATE TABLE IF NOT EXISTS items (order_id bigint, sku text NOT NULL, PRIMARY KEY (order_id, sku));
	CREATE TABLE IF NOT EXISTS events (order_id bigint NOT NULL, kind text NOT NULL);
	CREATE TABLE IF NOT EXISTS funds (account bigint PRIMARY KEY, cents bigint NOT NULL CHECK (cents >= 0));
	TRUNCATE orders, items, events, funds;
	INSERT INTO funds VALUES (1, 1000000000)`

// executor is a connection or a transaction on it.
type executor interface {
	Exec(ctx context.Context, text string, values ...any) (pgconn.CommandTag, error)
}

// placeOrder writes one unit of business: six statements.
func placeOrder(ctx context.Context, on executor, id, cents int64) error {
	for _, s := range []struct {
		text   string
		values []any
	}{
		{"INSERT INTO orders VALUES ($1, 1, $2)", []any{id, cents}},
		{"INSERT INTO items VALUES ($1, $2)", []any{id, "one"}},
		{"INSERT INTO items VALUES ($1, $2)", []any{id, "two"}},
		{"INSERT INTO items VALUES ($1, $2)", []any{id, "three"}},
		{"UPDATE funds SET cents = cents - $1 WHERE account = 1", []any{cents}},
		{"INSERT INTO events VALUES ($1, 'created')", []any{id}},
	} {
		if _, err := on.Exec(ctx, s.text, s.values...); err != nil {
			return err
		}
	}
	return nil
}

// ordering places an order on a connection.
type ordering func(ctx context.Context, conn *pgx.Conn, id, cents int64) error

// eachCommitted is a service without a transaction: every statement commits.
func eachCommitted(ctx context.Context, conn *pgx.Conn, id, cents int64) error {
	return placeOrder(ctx, conn, id, cents)
}

func inTransaction(ctx context.Context, conn *pgx.Conn, id, cents int64) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return placeOrder(ctx, tx, id, cents) })
}

// BenchmarkTransaction places orders of six statements: each committed, or all at once.
func BenchmarkTransaction(b *testing.B) {
	dsn := database(b)
	must(b, do(b.Context(), dsn, unitTables))
	conn, place, id := connect(b, dsn), micro.Of[ordering](eachCommitted, inTransaction), int64(0)
	for b.Loop() {
		id++
		if err := place(b.Context(), conn, id, 5); err != nil {
			b.Fatal(err)
		}
	}
}

// written counts what orders left in the tables.
func written(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	var orders, items, events, cents int64
	must(t, conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM items),
		(SELECT count(*) FROM events), (SELECT cents FROM funds)`).Scan(&orders, &items, &events, &cents))
	return fmt.Sprintf("%d orders, %d items, %d events, %d cents", orders, items, events, cents)
}

// TestOrdersAreTheSame: both scopes leave the same rows, and where a statement fails, only the
// transaction leaves none: without it the order stands, and nobody has paid.
func TestOrdersAreTheSame(t *testing.T) {
	dsn := database(t)
	conn := connect(t, dsn)
	for name, c := range map[string]struct {
		place  ordering
		failed string
	}{
		"each":        {eachCommitted, "3 orders, 9 items, 2 events, 999999980 cents"},
		"transaction": {inTransaction, "2 orders, 6 items, 2 events, 999999980 cents"},
	} {
		must(t, do(t.Context(), dsn, unitTables))
		must(t, c.place(t.Context(), conn, 1, 5))
		must(t, c.place(t.Context(), conn, 2, 15))
		if got, want := written(t, conn), "2 orders, 6 items, 2 events, 999999980 cents"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if err := c.place(t.Context(), conn, 3, 2_000_000_000); err == nil {
			t.Errorf("%s: more than there is was spent", name)
		}
		if got := written(t, conn); got != c.failed {
			t.Errorf("%s, after an order that fails: %s, want %s", name, got, c.failed)
		}
	}
}
