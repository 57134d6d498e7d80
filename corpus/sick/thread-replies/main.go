// Command thread-replies shows a discussion with the names of those who wrote. It
// looks each name up on its own.
package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"

	"github.com/gorilla/mux"
	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"
)

type reply struct {
	ID     int    `db:"id" json:"id"`
	Author int    `db:"author" json:"-"`
	Text   string `db:"text" json:"text"`
	Name   string `db:"-" json:"name"`
}

type forum struct {
	replies, author *sqlx.Stmt
}

type decorate func(context.Context, *reply) error

func each(ctx context.Context, list []reply, all ...decorate) error {
	for i := range list {
		for _, f := range all {
			if err := f(ctx, &list[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *forum) name(ctx context.Context, r *reply) error {
	return f.author.GetContext(ctx, &r.Name, r.Author)
}

func (f *forum) thread(w http.ResponseWriter, r *http.Request) {
	var list []reply
	err := f.replies.SelectContext(r.Context(), &list, mux.Vars(r)["id"])
	if err == nil {
		err = each(r.Context(), list, f.name)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(list)
}

func main() {
	db := sqlx.MustConnect("postgres", os.Getenv("DATABASE_URL"))
	db.SetMaxOpenConns(12)
	db.SetMaxIdleConns(12)
	db.MustExec(`CREATE TABLE authors AS SELECT n AS id, 'author ' || n AS name FROM generate_series(1, 2000) n;
		CREATE UNIQUE INDEX ON authors (id);
		CREATE TABLE replies AS SELECT n AS id, n / 20 AS thread, n * 7 % 2000 + 1 AS author, 'I agree.' AS text FROM generate_series(1, 10000) n;
		CREATE INDEX ON replies (thread); ANALYZE authors; ANALYZE replies`)
	f := &forum{}
	var err error
	if f.replies, err = db.Preparex("SELECT id, author, text FROM replies WHERE thread = $1"); err != nil {
		panic(err)
	}
	if f.author, err = db.Preparex("SELECT name FROM authors WHERE id = $1"); err != nil {
		panic(err)
	}
	r := mux.NewRouter()
	r.HandleFunc("/threads/{id:[0-9]+}", f.thread)
	r.HandleFunc("/alive", func(http.ResponseWriter, *http.Request) {})
	slog.Error("serve", "error", http.ListenAndServe("127.0.0.1:9510", r))
}
