// Command ticket-holds reserves seats. A seat that is taken already ends the
// request without giving the connection back, so the pool is empty before long.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/julienschmidt/httprouter"
)

type hall struct {
	pool *pgxpool.Pool
	wait time.Duration
}

type hold struct {
	Seat  int  `json:"seat"`
	Taken bool `json:"taken"`
}

func (h *hall) reserve(ctx context.Context, seat int) (hold, error) {
	ctx, cancel := context.WithTimeout(ctx, h.wait)
	defer cancel()
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		return hold{}, err
	}
	var taken bool
	if err := conn.QueryRow(ctx, "SELECT taken FROM seats WHERE seat = $1", seat).Scan(&taken); err != nil {
		conn.Release()
		return hold{}, err
	}
	if taken {
		return hold{seat, true}, nil
	}
	conn.Release()
	return hold{seat, false}, nil
}

func (h *hall) handle(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	seat, _ := strconv.Atoi(p.ByName("seat"))
	got, err := h.reserve(r.Context(), seat)
	if err != nil {
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	_ = json.NewEncoder(w).Encode(got)
}

func main() {
	ctx := context.Background()
	cfg, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	cfg.MaxConns = 48
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, `CREATE TABLE seats AS SELECT n AS seat, n % 16 = 0 AS taken FROM generate_series(1, 4000) n;
		CREATE UNIQUE INDEX ON seats (seat); ANALYZE seats`); err != nil {
		log.Fatal(err)
	}
	h := &hall{pool: pool, wait: 400 * time.Millisecond}
	r := httprouter.New()
	r.POST("/seats/:seat/hold", h.handle)
	r.GET("/live", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9505", r))
}
