// Command cheese-catalogue is the catalogue of a cheese wholesaler.
package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"

	"github.com/jmoiron/sqlx"
	"github.com/sirupsen/logrus"
	_ "modernc.org/sqlite"

	"github.com/redline-go/redline/corpus/sick/cheese-catalogue/store"
	"github.com/redline-go/redline/corpus/sick/cheese-catalogue/web"
)

func main() {
	log := logrus.New()
	log.SetLevel(logrus.WarnLevel)
	dir, err := os.MkdirTemp("", "cheese-catalogue-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db := sqlx.MustOpen("sqlite", "file:"+filepath.Join(dir, "cheese.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	ctx := context.Background()
	if err := store.Migrate(ctx, db, os.Getenv("FIXED") == "1"); err != nil {
		log.WithError(err).Fatal("migrate")
	}
	if err := store.Seed(ctx, db, 15000); err != nil {
		log.WithError(err).Fatal("seed")
	}
	srv := &http.Server{Addr: "127.0.0.1:23407", Handler: web.Router(store.NewProducts(db), log)}
	log.Fatal(srv.ListenAndServe())
}
