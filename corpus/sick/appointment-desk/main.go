// Command appointment-desk shows the free slots of a clinic's day. Its database
// stands in another building, 6 ms away, and the pool has two connections.
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

const schema = `
CREATE TABLE slots (id int PRIMARY KEY, day int NOT NULL, room int NOT NULL);
INSERT INTO slots SELECT n, n % 365, n % 12 FROM generate_series(1, 8000) n;
CREATE INDEX ON slots (day);
ANALYZE slots;
CREATE FUNCTION free_slots(d int) RETURNS SETOF slots LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_sleep(0.006); RETURN QUERY SELECT * FROM slots WHERE day = d; END $$;`

type slot struct {
	ID   int `json:"id"`
	Day  int `json:"-"`
	Room int `json:"room"`
}

type desk struct{ pool *pgxpool.Pool }

func (d desk) free(ctx context.Context, day int) ([]slot, error) {
	rows, err := d.pool.Query(ctx, "SELECT id, day, room FROM free_slots($1)", day)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[slot])
}

func (d desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	day, _ := strconv.Atoi(chi.URLParam(r, "day"))
	list, err := d.free(r.Context(), day%365)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(list)
}

func main() {
	ctx := context.Background()
	cfg, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	cfg.MaxConns = 2
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, schema); err != nil {
		log.Fatal(err)
	}
	r := chi.NewRouter()
	r.Method(http.MethodGet, "/days/{day}/slots", desk{pool})
	r.Get("/up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9500", r))
}
