// Command stall-ledger shows a market stall's last sales. It keeps them in SQLite over
// one connection, and looks them up by a column without an index.
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

const schema = `
CREATE TABLE sales (id INTEGER PRIMARY KEY, stall INTEGER NOT NULL, cents INTEGER NOT NULL, item TEXT NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 30000)
INSERT INTO sales SELECT i, i % 900, i % 4711, 'item ' || (i % 37) FROM n;`

type sale struct {
	Cents int    `json:"cents"`
	Item  string `json:"item"`
}

type ledger struct{ db *sql.DB }

func (l *ledger) last(ctx context.Context, stall string) (list []sale, err error) {
	rows, err := l.db.QueryContext(ctx, "SELECT cents, item FROM sales WHERE stall = ? ORDER BY id DESC LIMIT 20", stall)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s sale
		if err := rows.Scan(&s.Cents, &s.Item); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

func (l *ledger) show(w http.ResponseWriter, r *http.Request) {
	list, err := l.last(r.Context(), r.PathValue("stall"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(list)
}

func main() {
	dir, err := os.MkdirTemp("", "stall-ledger-")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "ledger.db")+"?_pragma=journal_mode(wal)")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(schema); err != nil {
		log.Fatal(err)
	}
	l := &ledger{db}
	http.HandleFunc("GET /stalls/{stall}/sales", l.show)
	http.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9940", nil))
}
