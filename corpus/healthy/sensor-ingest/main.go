// Command sensor-ingest takes in batches of samples and writes each
// with one COPY in a transaction, beside one row for the batch.
package main

import (
	"context"
	"encoding/binary"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/gorilla/mux"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func decode(body []byte) [][]any {
	rows := make([][]any, 0, len(body)/8)
	for ; len(body) >= 8; body = body[8:] {
		rows = append(rows, []any{int32(binary.LittleEndian.Uint32(body) % 5000), int32(binary.LittleEndian.Uint32(body[4:]) % 1000)})
	}
	return rows
}

type sink struct{ pool *pgxpool.Pool }

func (s sink) write(ctx context.Context, rows [][]any) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Exec(ctx, "INSERT INTO batches (samples) VALUES ($1)", len(rows)); err != nil {
		return err
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"samples"}, []string{"sensor", "value"}, pgx.CopyFromRows(rows)); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL")+"&pool_max_conns=12")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, "CREATE UNLOGGED TABLE samples (sensor int, value int); CREATE UNLOGGED TABLE batches "+
		"(id bigserial, samples int)"); err != nil {
		log.Fatal(err)
	}
	s := sink{pool}
	r := mux.NewRouter()
	r.HandleFunc("/samples", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
		if err == nil {
			err = s.write(r.Context(), decode(body))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}).Methods(http.MethodPost)
	r.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9526", r))
}
