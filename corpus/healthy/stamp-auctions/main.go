// Command stamp-auctions takes bids for stamps.
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite"

	"github.com/redline-go/redline/corpus/healthy/stamp-auctions/internal/session"
	"github.com/redline-go/redline/corpus/healthy/stamp-auctions/internal/store"
	"github.com/redline-go/redline/corpus/healthy/stamp-auctions/internal/web"
)

func main() {
	dir, err := os.MkdirTemp("", "stamp-auctions-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db := sqlx.MustOpen("sqlite", "file:"+filepath.Join(dir, "lots.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(3000)&_txlock=immediate")
	db.SetMaxOpenConns(6)
	db.SetMaxIdleConns(6)
	lots, err := store.NewLots(context.Background(), db, 400)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(web.Engine(lots, session.NewDoor()).Run("127.0.0.1:23433"))
}
