// Command number-range hands out invoice numbers without gaps. An advisory lock
// makes the callers take turns, around more than the number itself.
package main

import (
	"context"
	"database/sql"
	"log"
	"net/http"
	"os"
	"strconv"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/julienschmidt/httprouter"
)

type series struct {
	db  *sql.DB
	key int64
}

func (s *series) next(ctx context.Context, customer string) (number int64, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	for _, step := range []struct {
		text string
		args []any
		into *int64
	}{
		{"SELECT 1 FROM pg_advisory_xact_lock($1)", []any{s.key}, nil},
		{"SELECT coalesce(max(number), 0) + 1 FROM invoices", nil, &number},
		{"SELECT length(render($1))", []any{customer}, nil},
	} {
		into := step.into
		if into == nil {
			into = new(int64)
		}
		if err := tx.QueryRowContext(ctx, step.text, step.args...).Scan(into); err != nil {
			return 0, err
		}
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO invoices VALUES ($1, $2)", number, customer); err != nil {
		return 0, err
	}
	return number, tx.Commit()
}

func main() {
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(32)
	db.SetMaxIdleConns(32)
	for _, text := range []string{
		"CREATE TABLE invoices (number bigint PRIMARY KEY, customer text)",
		// Rendering is done by an extension that waits for another machine.
		"CREATE FUNCTION render(c text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.004); RETURN upper(c); END $$",
	} {
		if _, err := db.Exec(text); err != nil {
			log.Fatal(err)
		}
	}
	s := &series{db, 4711}
	r := httprouter.New()
	r.POST("/customers/:customer/invoices", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		n, err := s.next(r.Context(), p.ByName("customer"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(strconv.AppendInt(nil, n, 10))
	})
	r.GET("/", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9513", r))
}
