// Command product-sheet puts together everything about a product
// from twelve tables, with one prepared statement for each.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/jmoiron/sqlx"
	"github.com/julienschmidt/httprouter"
	_ "github.com/lib/pq"
)

var chapters = []string{"prices", "stock", "sizes", "colours", "media", "reviews", "makers", "safety", "returns",
	"taxes", "bundles", "notes"}

type chapter struct {
	name string
	*sqlx.Stmt
}

type sheet []chapter

func (s sheet) read(product string) (map[string]string, error) {
	all := make(map[string]string, len(s))
	for _, c := range s {
		var text string
		if err := c.Get(&text, product); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		all[c.name] = text
	}
	return all, nil
}

func open(dsn string) (s sheet, err error) {
	db, err := sqlx.Connect("postgres", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(12)
	db.SetMaxIdleConns(12)
	for _, name := range chapters {
		if _, err := db.Exec(fmt.Sprintf(`CREATE TABLE %s AS SELECT n AS product, '%s of ' || n AS body FROM generate_series(1, 1000) n;
			CREATE UNIQUE INDEX ON %s (product); ANALYZE %s`, name, name, name, name)); err != nil {
			return nil, err
		}
		st, err := db.Preparex("SELECT body FROM " + name + " WHERE product = $1")
		if err != nil {
			return nil, err
		}
		s = append(s, chapter{name, st})
	}
	return s, nil
}

func main() {
	s, err := open(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	r := httprouter.New()
	r.GET("/products/:id", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		all, err := s.read(p.ByName("id"))
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(all)
	})
	r.GET("/up", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9527", r))
}
