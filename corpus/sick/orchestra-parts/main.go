// Command orchestra-parts shows the librarians of an orchestra
// which parts a concert needs, and on which shelf each lies.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/corpus/sick/orchestra-parts/programme"
	"github.com/redline-go/redline/corpus/sick/orchestra-parts/store"
)

const seed = `
CREATE TABLE concerts (id bigint PRIMARY KEY, title text NOT NULL, conductor text NOT NULL, held_on date NOT NULL);
CREATE TABLE works (id bigint PRIMARY KEY, concert_id bigint NOT NULL REFERENCES concerts, position int NOT NULL,
	composer text NOT NULL, title text NOT NULL, minutes int NOT NULL);
CREATE INDEX works_by_concert ON works (concert_id, position);
CREATE TABLE parts (id bigint PRIMARY KEY, work_id bigint NOT NULL REFERENCES works, instrument text NOT NULL,
	desks int NOT NULL, shelf text NOT NULL);
CREATE INDEX parts_by_work ON parts (work_id);
INSERT INTO concerts SELECT n, 'Concert ' || n, 'Conductor ' || n % 7, date '2026-01-01' + n::int
	FROM generate_series(1, 300) n;
INSERT INTO works SELECT c * 100 + p, c, p, 'Composer ' || (c * p) % 41, 'Opus ' || c || '/' || p, 5 + (c + p) % 30
	FROM generate_series(1, 300) c, generate_series(1, 14) p;
INSERT INTO parts SELECT w.id * 10 + k, w.id, (ARRAY['violin', 'viola', 'cello', 'oboe', 'horn'])[k],
	1 + k % 4, 'S' || w.id % 90
	FROM works w, generate_series(1, 5) k;
ANALYZE`

func connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns, cfg.MinConns = 16, 16
	cfg.MaxConnLifetime = time.Hour
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, seed, pgx.QueryExecModeSimpleProtocol)
	return pool, err
}

func concert(s *programme.Service, log *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			http.Error(w, "id: a number", http.StatusBadRequest)
			return
		}
		sheet, err := s.Sheet(r.Context(), id)
		switch {
		case errors.Is(err, programme.ErrNoConcert):
			http.NotFound(w, r)
			return
		case err != nil:
			log.ErrorContext(r.Context(), "sheet", "concert", id, "err", err)
			http.Error(w, "internal error", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(sheet)
	}
}

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	pool, err := connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Error("database", "err", err)
		os.Exit(1)
	}
	defer pool.Close()

	mux := http.NewServeMux()
	mux.HandleFunc("GET /concerts/{id}/sheet", concert(programme.NewService(store.New(pool)), log))
	mux.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	srv := &http.Server{Addr: "127.0.0.1:9342", Handler: mux}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Error("serve", "err", err)
	}
}
