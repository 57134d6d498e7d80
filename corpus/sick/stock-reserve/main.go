// Command stock-reserve takes goods out of stock. Between taking them and the end
// of the transaction it asks the carrier for a price.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/go-chi/chi/v5"
	"github.com/go-resty/resty/v2"
	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"
)

type warehouse struct {
	db      *sqlx.DB
	carrier *resty.Client
}

func (h *warehouse) inTx(f func(*sqlx.Tx) error) error {
	tx, err := h.db.Beginx()
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return fmt.Errorf("%w (%v)", err, tx.Rollback())
	}
	return tx.Commit()
}

func (h *warehouse) reserve(article string) error {
	return h.inTx(func(tx *sqlx.Tx) error {
		res, err := tx.Exec("UPDATE stock SET pieces = pieces - 1 WHERE article = $1 AND pieces > 0", article)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return sql.ErrNoRows
		}
		quote, err := h.carrier.R().Get("/quotes/" + article)
		if err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO reservations VALUES ($1, $2)", article, quote.StatusCode())
		return err
	})
}

func main() {
	db := sqlx.MustConnect("postgres", os.Getenv("DATABASE_URL"))
	db.SetMaxOpenConns(40)
	db.SetMaxIdleConns(40)
	db.MustExec(`CREATE TABLE stock (article text PRIMARY KEY, pieces int);
		INSERT INTO stock SELECT 'a' || n, 1000000 FROM generate_series(1, 4) n;
		CREATE TABLE reservations (article text, quote int)`)
	h := &warehouse{db, resty.New().SetBaseURL(os.Getenv("BACKEND_URL"))}
	h.carrier.SetTransport(&http.Transport{MaxIdleConnsPerHost: 32})
	r := chi.NewRouter()
	r.Post("/articles/{article}/reservations", func(w http.ResponseWriter, req *http.Request) {
		if err := h.reserve(chi.URLParam(req, "article")); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	})
	r.Get("/ready", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9515", r))
}
