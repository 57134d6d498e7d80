// Command claims-search lists the open claims of a policy. The table has no
// index on the policy.
package main

import (
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	"os"

	_ "github.com/lib/pq"
)

type Claim struct {
	ID    int64  `json:"id"`
	Cents int64  `json:"cents"`
	State string `json:"state"`
}

type Archive struct{ claims *sql.Stmt }

func NewArchive(db *sql.DB) (*Archive, error) {
	for _, s := range []string{
		`CREATE TABLE claims (id bigserial PRIMARY KEY, policy int NOT NULL, cents bigint NOT NULL, state text NOT NULL, note text NOT NULL)`,
		`INSERT INTO claims (policy, cents, state, note) SELECT n % 4000, n * 7, CASE n % 3 WHEN 0 THEN 'open' ELSE 'paid' END, repeat('x', 80) FROM generate_series(1, 60000) n`,
		`ANALYZE claims`,
	} {
		if _, err := db.Exec(s); err != nil {
			return nil, err
		}
	}
	st, err := db.Prepare("SELECT id, cents, state FROM claims WHERE policy = $1 AND state = $2 ORDER BY id DESC")
	return &Archive{st}, err
}

func (a *Archive) Open(policy string) (list []Claim, err error) {
	rows, err := a.claims.Query(policy, "open")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c Claim
		if err = rows.Scan(&c.ID, &c.Cents, &c.State); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, rows.Err()
}

func main() {
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(24)
	db.SetMaxIdleConns(24)
	archive, err := NewArchive(db)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /policies/{policy}/claims", func(w http.ResponseWriter, r *http.Request) {
		list, err := archive.Open(r.PathValue("policy"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(list)
	})
	http.HandleFunc("GET /ok", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9506", nil))
}
