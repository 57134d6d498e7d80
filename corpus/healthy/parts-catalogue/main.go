// Command parts-catalogue shows spare parts with their places and prices. Nearly
// all of its time is spent in the database, with pages of rows found by index.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type Part struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Cents int    `json:"cents"`
	Place string `json:"place"`
}

type Catalogue struct{ *pgxpool.Pool }

func (c Catalogue) Page(ctx context.Context, group, after int) ([]Part, error) {
	rows, err := c.Query(ctx, `SELECT p.id, p.name, p.cents, s.place FROM parts p JOIN stores s USING (id)
		WHERE p.kind = $1 AND p.id > $2 ORDER BY p.id LIMIT 40`, group, after)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Part])
}

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL")+"&pool_max_conns=16&pool_min_conns=16")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, `CREATE TABLE parts AS SELECT n AS id, n % 100 AS kind, 'part ' || n AS name, n AS cents FROM generate_series(1, 30000) n;
		CREATE TABLE stores AS SELECT n AS id, 'aisle ' || n % 90 AS place FROM generate_series(1, 30000) n;
		CREATE INDEX ON parts (kind, id); CREATE UNIQUE INDEX ON stores (id); ANALYZE parts; ANALYZE stores`); err != nil {
		log.Fatal(err)
	}
	c := Catalogue{pool}
	r := chi.NewRouter()
	r.Get("/groups/{group}/parts", func(w http.ResponseWriter, r *http.Request) {
		group, _ := strconv.Atoi(chi.URLParam(r, "group"))
		list, err := c.Page(r.Context(), group, 10000)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(list)
	})
	r.Get("/up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9525", r))
}
