// Command hive-scales stores the weights of bee hives.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	_ "modernc.org/sqlite"

	"github.com/redline-go/redline/corpus/sick/hive-scales/ent"
	"github.com/redline-go/redline/corpus/sick/hive-scales/ent/weight"
	"github.com/redline-go/redline/corpus/sick/hive-scales/handlers"
)

func init() {
	weight.GramsValidator = func(g int64) error {
		if g <= 0 || g > 250_000 {
			return errors.New("out of range")
		}
		return nil
	}
	weight.SourceValidator = func(s string) error {
		if !strings.HasPrefix(s, "scale/") {
			return errors.New("unknown source")
		}
		return nil
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "hive-scales-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "hives.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(8000)")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	client := ent.NewClient(db)
	if err := client.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	for i := range 64 {
		if err := client.Hive.Create(ctx, fmt.Sprintf("hive %d", i+1), fmt.Sprintf("key-%d", i+1)); err != nil {
			log.Fatal(err)
		}
	}
	var stored atomic.Int64
	client.Weight.Use(func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, m *ent.WeightMutation) error {
			err := next.Mutate(ctx, m)
			if err == nil {
				stored.Add(1)
			}
			return err
		})
	})
	save := handlers.Each
	if os.Getenv("FIXED") == "1" {
		save = handlers.Bulk
	}
	srv := &http.Server{Addr: "127.0.0.1:9963", Handler: handlers.Engine(client, save)}
	go func() { <-ctx.Done(); _ = srv.Close() }()
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Print(err)
	}
	log.Printf("%d weights stored", stored.Load())
}
