// Command dispatch-desk plans tours. Drivers come from a far database through a
// pool of two; the tours of a van are searched in a table without an index.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/gorilla/mux"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/lib/pq"
)

type tour struct{ ID, Stops int }

type desk struct {
	drivers *pgxpool.Pool
	tours   *sql.DB
}

func (d *desk) onDuty(ctx context.Context, day int) ([]string, error) {
	rows, err := d.drivers.Query(ctx, "SELECT * FROM on_duty($1)", day)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func (d *desk) ofVan(ctx context.Context, van int) (list []tour, err error) {
	rows, err := d.tours.QueryContext(ctx, "SELECT id, stops FROM tours WHERE van = $1", van)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t tour
		if err := rows.Scan(&t.ID, &t.Stops); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, rows.Err()
}

func answer[T any](f func(context.Context, int) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(mux.Vars(r)["n"])
		v, err := f(r.Context(), n)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(v)
	}
}

func main() {
	ctx := context.Background()
	dsn := os.Getenv("DATABASE_URL")
	pool, err := pgxpool.New(ctx, dsn+"&pool_max_conns=2")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	if _, err := db.Exec(`CREATE TABLE tours AS SELECT n AS id, n % 2000 AS van, n % 40 AS stops FROM generate_series(1, 150000) n; ANALYZE tours;
		CREATE TABLE drivers AS SELECT 'driver ' || n AS name, n % 30 AS day FROM generate_series(1, 300) n;
		CREATE FUNCTION on_duty(d int) RETURNS SETOF text LANGUAGE plpgsql AS $$
		BEGIN PERFORM pg_sleep(0.004); RETURN QUERY SELECT name FROM drivers WHERE day = d; END $$`); err != nil {
		log.Fatal(err)
	}
	d := &desk{pool, db}
	r := mux.NewRouter()
	r.HandleFunc("/days/{n}/drivers", answer(d.onDuty))
	r.HandleFunc("/vans/{n}/tours", answer(d.ofVan))
	r.HandleFunc("/up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9524", r))
}
