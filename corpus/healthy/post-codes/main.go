// Command post-codes answers which town a post code belongs to, from an indexed SQLite
// file that it reads over read-only connections, with a statement prepared once.
package main

import (
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite"
)

const schema = `
CREATE TABLE towns (code INTEGER PRIMARY KEY, name TEXT NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 20000)
INSERT INTO towns SELECT i, 'town ' || i FROM n;`

type gazetteer struct{ byCode *sql.Stmt }

func (g gazetteer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code, _ := strconv.Atoi(r.PathValue("code"))
	var name string
	if err := g.byCode.QueryRowContext(r.Context(), code).Scan(&name); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "town": name})
}

func main() {
	dir, err := os.MkdirTemp("", "post-codes-")
	if err != nil {
		log.Fatal(err)
	}
	file := "file:" + filepath.Join(dir, "towns.db")
	write, err := sql.Open("sqlite", file+"?_pragma=journal_mode(wal)")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := write.Exec(schema); err != nil {
		log.Fatal(err)
	}
	read, err := sql.Open("sqlite", file+"?mode=ro")
	if err != nil {
		log.Fatal(err)
	}
	read.SetMaxOpenConns(4)
	read.SetMaxIdleConns(4)
	byCode, err := read.Prepare("SELECT name FROM towns WHERE code = ?")
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("GET /codes/{code}", gazetteer{byCode})
	http.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9945", nil))
}
