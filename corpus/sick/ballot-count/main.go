// Command ballot-count takes the ballots that readers at polling stations send.
package main

import (
	"context"
	"database/sql"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"go.uber.org/zap"
	_ "modernc.org/sqlite"

	"github.com/redline-go/redline/corpus/sick/ballot-count/ballots"
	"github.com/redline-go/redline/corpus/sick/ballot-count/server"
)

func main() {
	log := zap.Must(zap.NewProduction())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "ballot-count-")
	if err != nil {
		log.Fatal("temporary folder", zap.Error(err))
	}
	defer os.RemoveAll(dir)

	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"journal_mode(WAL)", "busy_timeout(10000)", "synchronous(FULL)"}}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "count.db")+"?"+q.Encode())
	if err != nil {
		log.Fatal("open", zap.Error(err))
	}
	defer db.Close()
	db.SetMaxOpenConns(32)
	db.SetMaxIdleConns(32)
	book, err := ballots.NewBook(ctx, db)
	if err != nil {
		log.Fatal("book", zap.Error(err))
	}
	s := &server.Server{Recorder: book, Teller: book, Log: log}
	if os.Getenv("FIXED") == "1" {
		s.Recorder = ballots.NewClerk(ctx, book)
	}
	srv := &http.Server{Addr: "127.0.0.1:9803", Handler: s.Engine()}
	go func() {
		<-ctx.Done()
		_ = srv.Close()
	}()
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Error("serve", zap.Error(err))
	}
}
