// Command meter-readings takes in what meters send, forty readings at a time, and
// inserts them one by one.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/gorilla/mux"
	"github.com/jackc/pgx/v5/pgxpool"
)

type reading struct {
	Meter int   `json:"meter"`
	Watts int   `json:"watts"`
	Unix  int64 `json:"unix"`
}

type store struct{ pool *pgxpool.Pool }

func (s *store) add(ctx context.Context, r reading) error {
	_, err := s.pool.Exec(ctx, "INSERT INTO readings (meter, watts, unix) VALUES ($1, $2, $3)", r.Meter, r.Watts, r.Unix)
	return err
}

func (s *store) take(w http.ResponseWriter, r *http.Request) {
	var batch []reading
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&batch); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, one := range batch {
		if err := s.add(r.Context(), one); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	w.WriteHeader(http.StatusAccepted)
}

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL")+"&pool_max_conns=16")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, "CREATE TABLE readings (meter int, watts int, unix bigint); CREATE INDEX ON readings "+
		"(meter, unix)"); err != nil {
		log.Fatal(err)
	}
	s := &store{pool}
	r := mux.NewRouter()
	r.Path("/readings").Methods(http.MethodPost).HandlerFunc(s.take)
	r.Path("/up").HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9518", r))
}
