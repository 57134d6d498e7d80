package spans

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/record/statement"
	"github.com/redline-go/redline/service/postgres"
)

// TestStatementsAreFoundAgain sends texts to a real server as clients write them
// and looks for each among those that pg_stat_statements shows.
func TestStatementsAreFoundAgain(t *testing.T) {
	server, err := postgres.Start(t.Context(), postgres.Options{NoDownload: true})
	if err != nil {
		t.Skipf("no PostgreSQL here: %v", err)
	}
	t.Cleanup(func() { server.Stop(context.WithoutCancel(t.Context())) })
	conn, err := pgx.Connect(t.Context(), server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	exec("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	exec(`CREATE TABLE orders (id int, "Name" text, at timestamptz, tags text[], body jsonb, paid bool)`)
	// PostgreSQL shows the text of the first one sent; the second is as a span may have it.
	for _, c := range [][2]string{
		{"SELECT * FROM orders WHERE id = 7", "select  *\nfrom Orders /* comment */ where ID = $1 -- and more"},
		{"SELECT id FROM orders WHERE id = -7 AND id > - 5", "SELECT id FROM orders WHERE id = $1 AND id > -3"},
		{`SELECT "Name" FROM "orders" WHERE "Name" = 'it''s'`, `SELECT "Name" FROM orders WHERE "Name" = $1`},
		{"SELECT id, at FROM orders WHERE id IN (1, 2, 3)", "SELECT id, at FROM orders WHERE id IN ($1, $2, $3)"},
		{"INSERT INTO orders (id, paid) VALUES (1, true), (2, NULL)", "insert into orders(id, paid) values ($1, $2), ($3, $4)"},
		{"SELECT id FROM orders WHERE at > '2026-01-01'::timestamptz AND paid IS NOT NULL",
			"SELECT id FROM orders WHERE at > $1::timestamptz AND paid IS NOT NULL"},
		{"SELECT body->>'key', body @> '{}' FROM orders", "SELECT body ->> $1, body @> $2 FROM orders"},
		{"SELECT tags[1], E'a\\'b', $$x$$ FROM orders", "SELECT tags[$1], $2, $3 FROM orders"},
		{"UPDATE orders SET paid = false WHERE id = 1.5e3", "UPDATE orders SET paid = $1 WHERE id = $2"},
		{"SELECT count(*) FROM orders LIMIT 10 OFFSET 5", "SELECT count(*) FROM orders LIMIT $1 OFFSET $2"},
		{"WITH x AS (SELECT 1 AS one) SELECT one FROM x ORDER BY 1", "with x as (select $1 as one) select one from x order by 1"},
	} {
		exec("SELECT pg_stat_statements_reset()")
		exec(c[0])
		rows, err := conn.Query(t.Context(), "SELECT query FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'")
		if err != nil {
			t.Fatal(err)
		}
		shown, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", c[0], err)
		}
		for _, text := range c {
			if statement.Key(text) != statement.Key(shown) {
				t.Errorf("the server shows\n\t%s, in normal form\n\t%s, and not that of\n\t%s, which is\n\t%s", shown,
					statement.Normal(shown), text, statement.Normal(text))
			}
		}
	}
}
