// Command weir-gauges stores what the gauges of weirs measured.
package main

import (
	"context"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/weir-gauges/internal/api"
	"github.com/redline-go/redline/corpus/sick/weir-gauges/internal/gauges"
	"github.com/redline-go/redline/corpus/sick/weir-gauges/internal/sqlite"
)

func main() {
	log := zap.Must(zap.NewProduction())
	defer func() { _ = log.Sync() }()
	dir, err := os.MkdirTemp("", "weir-gauges-")
	if err != nil {
		log.Fatal("dir", zap.Error(err))
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(context.Background(), filepath.Join(dir, "weirs.db"))
	if err != nil {
		log.Fatal("open", zap.Error(err))
	}
	defer store.Close()
	svc := gauges.Service{Readings: store, Log: log}
	if os.Getenv("FIXED") == "1" {
		svc.Readings = sqlite.Batched{Store: store}
	}
	if err := api.New(svc).Start("127.0.0.1:23617"); err != nil {
		log.Error("listen", zap.Error(err))
	}
}
