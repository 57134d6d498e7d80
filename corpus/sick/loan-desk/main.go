// Command loan-desk shows what a reader has borrowed. It keeps loans in SQLite,
// through the driver in C, and looks them up by a column without an index.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3"
)

const schema = `
CREATE TABLE loans (id INTEGER PRIMARY KEY, reader INTEGER NOT NULL, due INTEGER NOT NULL, item TEXT NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 30000)
INSERT INTO loans SELECT i, i % 900, i % 4711, 'item ' || (i % 37) FROM n;`

type loan struct {
	Due  int    `json:"due"`
	Item string `json:"item"`
}

type desk struct{ db *sql.DB }

func (l *desk) last(ctx context.Context, reader string) (list []loan, err error) {
	rows, err := l.db.QueryContext(ctx, "SELECT due, item FROM loans WHERE reader = ? ORDER BY id DESC LIMIT 20", reader)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s loan
		if err := rows.Scan(&s.Due, &s.Item); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

func (l *desk) show(w http.ResponseWriter, r *http.Request) {
	list, err := l.last(r.Context(), r.PathValue("reader"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(list)
}

func main() {
	dir, err := os.MkdirTemp("", "loan-desk-")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "loans.db")+"?_journal=WAL")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(4)
	if _, err := db.Exec(schema); err != nil {
		log.Fatal(err)
	}
	l := &desk{db}
	http.HandleFunc("GET /readers/{reader}/loans", l.show)
	http.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9943", nil))
}
