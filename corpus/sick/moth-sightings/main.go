// Command moth-sightings is the notebook of a club that watches moths.
package main

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	"github.com/redline-go/redline/corpus/sick/moth-sightings/internal/notebook"
	"github.com/redline-go/redline/corpus/sick/moth-sightings/internal/web"
)

func main() {
	if err := run(); err != nil {
		slog.Error("run", "err", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "moth-sightings-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	conf := notebook.Config{Path: filepath.Join(dir, "moths.db"), Readers: 6}
	if os.Getenv("FIXED") == "1" {
		conf.Indexes = append(conf.Indexes, "CREATE INDEX sightings_name ON sightings (lower(species), seen_at DESC)")
	}
	book, err := notebook.Open(conf)
	if err != nil {
		return err
	}
	return http.ListenAndServe("127.0.0.1:23616", web.Routes(book))
}
