// Command revenue-board shows the takings of the shops. It adds all receipts up
// again for each look at the board.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sirupsen/logrus"
)

type takings struct {
	Shop     int   `json:"shop"`
	Receipts int   `json:"receipts"`
	Cents    int64 `json:"cents"`
}

type board struct {
	http.ServeMux
	pool *pgxpool.Pool
}

func (b *board) sums(ctx context.Context, least int) ([]takings, error) {
	rows, err := b.pool.Query(ctx, `SELECT shop, count(DISTINCT till), sum(cents)::bigint FROM receipts
		WHERE cents >= $1 GROUP BY shop ORDER BY 3 DESC`, least)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := make([]takings, 0, 40)
	for rows.Next() {
		var t takings
		if err := rows.Scan(&t.Shop, &t.Receipts, &t.Cents); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, rows.Err()
}

func newBoard(ctx context.Context) (*board, error) {
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, `CREATE TABLE receipts (shop int, till int, cents int);
		INSERT INTO receipts SELECT n % 40, n % 311, n % 5003 FROM generate_series(1, 40000) n; ANALYZE receipts`)
	b := &board{pool: pool}
	b.HandleFunc("GET /board", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		list, err := b.sums(ctx, 5)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(list)
	})
	b.HandleFunc("GET /alive", func(http.ResponseWriter, *http.Request) {})
	return b, err
}

func main() {
	b, err := newBoard(context.Background())
	if err != nil {
		logrus.Fatal(err)
	}
	logrus.Fatal(http.ListenAndServe("127.0.0.1:9508", b))
}
