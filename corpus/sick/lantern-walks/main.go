// Command lantern-walks sells places of guided walks at night.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/redline-go/redline/corpus/sick/lantern-walks/internal/api"
	"github.com/redline-go/redline/corpus/sick/lantern-walks/internal/guides"
	"github.com/redline-go/redline/corpus/sick/lantern-walks/internal/walks"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	conf := walks.Config{Desks: 1, Log: log}
	if os.Getenv("FIXED") == "1" {
		conf.Desks = 24
	}
	office := walks.Open(context.Background(), guides.New(os.Getenv("BACKEND_URL")), conf)
	if err := api.New(office, log).Start("127.0.0.1:23609"); err != nil {
		log.Error("listen", "err", err)
		os.Exit(1)
	}
}
