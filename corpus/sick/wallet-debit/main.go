// Command wallet-debit books purchases. All of them lock the row of the house's
// own account first, and hold it while the purchase's other rows are written.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type ledger struct{ *pgxpool.Pool }

func (l ledger) buy(ctx context.Context, wallet, cents int) error {
	return pgx.BeginFunc(ctx, l.Pool, func(tx pgx.Tx) error {
		var house int64
		if err := tx.QueryRow(ctx, "SELECT cents FROM wallets WHERE id = 0 FOR UPDATE").Scan(&house); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE wallets SET cents = cents - $1 WHERE id = $2", cents, wallet); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT post_entry($1, $2)", wallet, cents); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE wallets SET cents = $1 WHERE id = 0", house+int64(cents))
		return err
	})
}

const tables = `
CREATE TABLE wallets (id int PRIMARY KEY, cents bigint NOT NULL);
INSERT INTO wallets SELECT n, 100000 FROM generate_series(0, 5000) n;
CREATE TABLE entries (wallet int, cents int, at timestamptz);
-- The journal stands at another site.
CREATE FUNCTION post_entry(w int, c int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_sleep(0.004); INSERT INTO entries VALUES (w, c, now()); END $$;`

func main() {
	ctx := context.Background()
	cfg, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	cfg.MaxConns = 30
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, tables); err != nil {
		log.Fatal(err)
	}
	l := ledger{pool}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /wallets/{id}/purchases", func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.Atoi(r.PathValue("id"))
		if err := l.buy(r.Context(), 1+id%5000, 250); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		fmt.Fprintln(w, "booked")
	})
	mux.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9511", mux))
}
