// Command warranty-claims finds the claims of a serial number. The table is indexed by
// its key and by the day of filing, and not by what everybody looks for.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gorilla/mux"
	_ "github.com/jackc/pgx/v5/stdlib"
)

var migrations = []string{
	`CREATE TABLE claims (
		id      bigserial PRIMARY KEY,
		serial  text NOT NULL,
		filed   date NOT NULL,
		defect  text NOT NULL,
		settled boolean NOT NULL DEFAULT false)`,
	`INSERT INTO claims (serial, filed, defect)
		SELECT 'SN-' || lpad((n * 7919 % 40000)::text, 6, '0'), date '2024-01-01' + n % 700, repeat('worn bearing ', 4)
		FROM generate_series(1, 90000) n`,
	`CREATE INDEX claims_filed ON claims (filed)`,
	`ANALYZE claims`,
}

type claim struct {
	ID      int64     `json:"id"`
	Filed   time.Time `json:"filed"`
	Defect  string    `json:"defect"`
	Settled bool      `json:"settled"`
}

type claimStore struct{ db *sql.DB }

func open(dsn string) (*claimStore, error) {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	for _, m := range migrations {
		if _, err := db.Exec(m); err != nil {
			return nil, err
		}
	}
	return &claimStore{db}, nil
}

func (s *claimStore) bySerial(ctx context.Context, serial string) (_ []claim, err error) {
	rows, err := s.db.QueryContext(ctx,
		`SELECT id, filed, defect, settled FROM claims WHERE serial = $1 ORDER BY filed DESC LIMIT 20`, serial)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found := []claim{}
	for rows.Next() {
		var c claim
		if err := rows.Scan(&c.ID, &c.Filed, &c.Defect, &c.Settled); err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, rows.Err()
}

func main() {
	store, err := open(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	r := mux.NewRouter()
	r.HandleFunc("/up", func(http.ResponseWriter, *http.Request) {})
	r.HandleFunc("/serials/{serial}/claims", func(w http.ResponseWriter, req *http.Request) {
		ctx, cancel := context.WithTimeout(req.Context(), 3*time.Second)
		defer cancel()
		found, err := store.bySerial(ctx, mux.Vars(req)["serial"])
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(found)
	}).Methods(http.MethodGet)
	log.Fatal(http.ListenAndServe("127.0.0.1:9862", r))
}
