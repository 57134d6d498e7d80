// Command bike-repairs writes the invoices of a bicycle workshop.
package main

import (
	"context"
	_ "embed"
	"flag"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/bike-repairs/shop"
	"github.com/redline-go/redline/corpus/sick/bike-repairs/web"
)

//go:embed schema.sql
var schema string

func main() {
	log := logrus.New()
	addr := flag.String("addr", "127.0.0.1:9343", "address to listen on")
	conns := flag.Int("conns", 12, "connections to the database")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	db, err := sqlx.ConnectContext(ctx, "postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.WithError(err).Fatal("database")
	}
	defer db.Close()
	db.SetMaxOpenConns(*conns)
	db.SetMaxIdleConns(*conns)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		log.WithError(err).Fatal("schema")
	}
	if err := shop.Demo(ctx, db); err != nil {
		log.WithError(err).Fatal("demo books")
	}

	srv := &http.Server{Addr: *addr, Handler: web.New(shop.NewStore(db), log), ReadTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	log.WithField("addr", *addr).Info("workshop is open")
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.WithError(err).Error("serve")
	}
}
