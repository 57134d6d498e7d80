// Command import-parts takes lists of spare parts into stock. It writes each part by a
// statement, and so a commit, of its own into SQLite.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"
)

type part struct {
	Number string `json:"number"`
	Count  int    `json:"count"`
}

type stock struct{ db *sql.DB }

func (s *stock) add(ctx context.Context, parts []part) error {
	for _, p := range parts {
		_, err := s.db.ExecContext(ctx, "INSERT INTO parts VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET count = count "+
			"+ excluded.count", p.Number, p.Count)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *stock) put(w http.ResponseWriter, r *http.Request) {
	var parts []part
	if err := json.NewDecoder(r.Body).Decode(&parts); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.add(r.Context(), parts); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func main() {
	dir, err := os.MkdirTemp("", "import-parts-")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "stock.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE parts (number TEXT PRIMARY KEY, count INTEGER NOT NULL)"); err != nil {
		log.Fatal(err)
	}
	s := &stock{db}
	http.HandleFunc("PUT /parts", s.put)
	http.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9944", nil))
}
