// Command till-sync books the receipts of a shop's tills. Each request books in a
// transaction of its own, over a connection of its own, into one SQLite file.
package main

import (
	"context"
	"database/sql"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite"
)

const schema = `
CREATE TABLE receipts (id INTEGER PRIMARY KEY, till INTEGER NOT NULL, cents INTEGER NOT NULL);
CREATE TABLE totals (till INTEGER PRIMARY KEY, cents INTEGER NOT NULL);`

type books struct{ db *sql.DB }

func (b *books) book(ctx context.Context, till, cents int) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "INSERT INTO receipts (till, cents) VALUES (?, ?)", till, cents); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO totals VALUES (?, ?) ON CONFLICT (till) DO UPDATE SET cents = cents "+
		"+ excluded.cents", till, cents); err != nil {
		return err
	}
	return tx.Commit()
}

func (b *books) post(w http.ResponseWriter, r *http.Request) {
	till, _ := strconv.Atoi(r.PathValue("till"))
	if err := b.book(r.Context(), till, 100+till); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func main() {
	dir, err := os.MkdirTemp("", "till-sync-")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "till.db")+"?_pragma=busy_timeout(8000)")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.Exec(schema); err != nil {
		log.Fatal(err)
	}
	b := &books{db}
	http.HandleFunc("POST /tills/{till}/receipts", b.post)
	http.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9942", nil))
}
