// Command bakery-preorders takes orders for tomorrow's bread.
package main

import (
	"context"
	"database/sql"
	"net/http"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"
	_ "modernc.org/sqlite"

	"github.com/redline-go/redline/corpus/sick/bakery-preorders/orders"
	"github.com/redline-go/redline/corpus/sick/bakery-preorders/till"
)

func main() {
	log := zerolog.New(os.Stderr).Level(zerolog.WarnLevel).With().Timestamp().Logger()
	dir, err := os.MkdirTemp("", "bakery-preorders-")
	if err != nil {
		log.Fatal().Err(err).Msg("folder")
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "orders.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(15000)&_txlock=immediate")
	if err != nil {
		log.Fatal().Err(err).Msg("open")
	}
	db.SetMaxOpenConns(24)
	db.SetMaxIdleConns(24)
	book, err := orders.NewBook(context.Background(), db)
	if err != nil {
		log.Fatal().Err(err).Msg("book")
	}
	var desk till.Desk = &orders.Service{Book: book, Payments: orders.NewPayments(os.Getenv("BACKEND_URL"))}
	if os.Getenv("FIXED") == "1" {
		desk = &orders.EarlyService{Book: book, Payments: orders.NewPayments(os.Getenv("BACKEND_URL"))}
	}
	if err := http.ListenAndServe("127.0.0.1:23409", till.Routes(desk, log)); err != nil {
		log.Fatal().Err(err).Msg("serve")
	}
}
