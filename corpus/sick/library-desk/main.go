// Command library-desk answers what a library's staff asks all day: five
// different questions, each served by its index, each with two thousand
// rows to count. Together they are more than the database can answer.
package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"log"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
)

var questions = map[string]string{
	"loans":   "SELECT count(*), coalesce(max(due), 0) FROM loans WHERE member = $1",
	"fines":   "SELECT count(*), coalesce(sum(cents), 0) FROM fines WHERE member = $1",
	"shelf":   "SELECT count(*), coalesce(max(year), 0) FROM books WHERE shelf = $1",
	"history": "SELECT count(DISTINCT book), coalesce(max(due), 0) FROM loans WHERE branch = $1",
	"visits":  "SELECT count(*), coalesce(max(minute), 0) FROM visits WHERE member = $1",
}

const tables = `
CREATE TABLE loans AS SELECT n % 20 AS member, n % 20 AS branch, n % 9000 AS book, n % 365 AS due FROM generate_series(1, 40000) n;
CREATE TABLE fines AS SELECT n % 20 AS member, n % 500 AS cents FROM generate_series(1, 40000) n;
CREATE TABLE books AS SELECT n % 20 AS shelf, 1900 + n % 120 AS year FROM generate_series(1, 40000) n;
CREATE TABLE visits AS SELECT n % 20 AS member, n AS minute FROM generate_series(1, 40000) n;
CREATE INDEX ON loans (member, due); CREATE INDEX ON loans (branch, book, due); CREATE INDEX ON fines (member, cents);
CREATE INDEX ON books (shelf, year); CREATE INDEX ON visits (member, minute);`

type answer struct{ count, most int64 }

func ask(ctx context.Context, pool *pgxpool.Pool, text string, about uint32) (a answer, err error) {
	err = pool.QueryRow(ctx, text, int32(about%20)).Scan(&a.count, &a.most)
	return a, err
}

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL")+"&pool_max_conns=12")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, tables); err != nil {
		log.Fatal(err)
	}
	for _, table := range []string{"loans", "fines", "books", "visits"} {
		if _, err := pool.Exec(ctx, "VACUUM ANALYZE "+table); err != nil {
			log.Fatal(err)
		}
	}
	for name, text := range questions {
		http.HandleFunc("GET /"+name+"/{about}", func(w http.ResponseWriter, r *http.Request) {
			h := fnv.New32a()
			h.Write([]byte(r.PathValue("about")))
			a, err := ask(r.Context(), pool, text, h.Sum32())
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprintln(w, a.count, a.most)
		})
	}
	http.HandleFunc("GET /open", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9520", nil))
}
