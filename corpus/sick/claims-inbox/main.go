// Command claims-inbox lists insurance claims by tenant, each scored for fraud.
package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	_ "github.com/lib/pq"
)

type config struct {
	addr, dsn, scorer string
	pool              int
}

func fromEnv() config {
	c := config{addr: "127.0.0.1:9202", dsn: os.Getenv("DATABASE_URL"), scorer: os.Getenv("BACKEND_URL"), pool: 4}
	if os.Getenv("FIXED") != "" {
		c.pool = 32
	}
	return c
}

func openDB(ctx context.Context, c config) (*sql.DB, error) {
	db, err := sql.Open("postgres", c.dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(c.pool)
	db.SetMaxIdleConns(c.pool)
	for _, s := range schema {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	c := fromEnv()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	db, err := openDB(ctx, c)
	if err != nil {
		log.Error("database", "err", err)
		os.Exit(1)
	}
	in := &inbox{log: log, score: scoring(c.scorer)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("GET /inbox/{adjuster}", chain(http.HandlerFunc(in.list), recovered(log), tenant(db)))
	srv := &http.Server{Addr: c.addr, Handler: mux, ReadTimeout: 5 * time.Second}
	log.Error("serve", "err", srv.ListenAndServe())
}
