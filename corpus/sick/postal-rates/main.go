// Command postal-rates prices letters. The pool speaks to the server as a proxy
// in front of it once asked for: every statement goes as text, without a plan kept.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const tables = `
CREATE TABLE zones (zone int PRIMARY KEY, country text);
CREATE TABLE bands (band int PRIMARY KEY, grams int);
CREATE TABLE rates (zone int, band int, service int, cents int, PRIMARY KEY (zone, band, service));
CREATE TABLE services (service int PRIMARY KEY, name text);
CREATE TABLE surcharges (zone int, service int, cents int, PRIMARY KEY (zone, service));
INSERT INTO zones SELECT n, 'c' || n FROM generate_series(1, 200) n;
INSERT INTO bands SELECT n, n * 50 FROM generate_series(1, 20) n;
INSERT INTO services SELECT n, 's' || n FROM generate_series(1, 4) n;
INSERT INTO rates SELECT z, b, s, z + b * s FROM generate_series(1, 200) z, generate_series(1, 20) b, generate_series(1, 4) s;
INSERT INTO surcharges SELECT z, s, z FROM generate_series(1, 200) z, generate_series(1, 4) s;
CREATE INDEX ON zones (country); CREATE INDEX ON bands (grams); ANALYZE`

const question = `SELECT s.name, r.cents + coalesce(u.cents, 0) AS cents
FROM zones z JOIN rates r ON r.zone = z.zone JOIN bands b ON b.band = r.band
JOIN services s ON s.service = r.service
LEFT JOIN surcharges u ON u.zone = z.zone AND u.service = s.service
LEFT JOIN surcharges v ON v.zone = z.zone AND v.service = r.service AND v.cents > 1000
WHERE z.country = $1 AND b.grams = $2 AND z.zone = $3`

type offer struct {
	Name  string
	Cents int
}

func offers(ctx context.Context, pool *pgxpool.Pool, zone int) ([]offer, error) {
	rows, err := pool.Query(ctx, question, "c"+strconv.Itoa(zone), 250, zone)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[offer])
}

func main() {
	ctx := context.Background()
	cfg, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	cfg.MaxConns = 12
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, tables); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/rates/{zone}", func(w http.ResponseWriter, r *http.Request) {
		zone, _ := strconv.Atoi(r.PathValue("zone"))
		list, err := offers(r.Context(), pool, zone)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(list)
	})
	http.HandleFunc("/up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9516", nil))
}
