package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"

	_ "github.com/jackc/pgx/v5/stdlib"
)

type quoteDesk struct {
	db     *sql.DB
	scorer string
	web    *http.Client
	early  bool
}

func (q *quoteDesk) score(ctx context.Context, holder string) error {
	req, err := http.NewRequestWithContext(ctx, "GET", q.scorer+"/score/"+holder, nil)
	if err != nil {
		return err
	}
	resp, err := q.web.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func (q *quoteDesk) quote(ctx context.Context, holder string) (premium int64, err error) {
	conn, err := q.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err = conn.QueryRowContext(ctx, "SELECT cents FROM insq_holders WHERE id = $1::int", holder).Scan(&premium); err != nil {
		return 0, err
	}
	if q.early {
		_ = conn.Close()
	}
	return premium, q.score(ctx, holder)
}

func (q *quoteDesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	premium, err := q.quote(r.Context(), r.PathValue("holder"))
	if err != nil {
		slog.Error("quote", "err", err)
		http.Error(w, "no quote", http.StatusBadGateway)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]int64{"premium": premium})
}

func must[T any](v T, err error) T {
	if err != nil {
		slog.Error("start", "err", err)
		os.Exit(1)
	}
	return v
}

func main() {
	db := must(sql.Open("pgx", os.Getenv("DATABASE_URL")))
	db.SetMaxOpenConns(5)
	db.SetMaxIdleConns(5)
	must(db.Exec(`DROP TABLE IF EXISTS insq_holders`))
	must(db.Exec(`CREATE TABLE insq_holders (id int PRIMARY KEY, cents bigint NOT NULL)`))
	must(db.Exec(`INSERT INTO insq_holders SELECT n, 4000 + n * 13 % 9000 FROM generate_series(1, 5000) n`))
	desk := &quoteDesk{db: db, scorer: os.Getenv("BACKEND_URL"), early: os.Getenv("FIXED") == "1",
		web: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	mux := http.NewServeMux()
	mux.Handle("GET /quotes/{holder}", desk)
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	must(0, http.ListenAndServe("127.0.0.1:9829", mux))
}
