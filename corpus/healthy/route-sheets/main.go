// Command route-sheets shows drivers where they drive this week.
package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/healthy/route-sheets/repo"
	"github.com/redline-go/redline/corpus/healthy/route-sheets/server"
)

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	dir, err := os.MkdirTemp("", "route-sheets-")
	if err != nil {
		log.Fatal().Err(err).Send()
	}
	defer os.RemoveAll(dir)
	drivers, done, err := repo.New(filepath.Join(dir, "sheets.db"))
	if err != nil {
		log.Error().Err(err).Msg("database")
		return
	}
	defer func() { _ = done() }()
	app := server.New(drivers, log)
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	go func() { <-end; _ = app.Shutdown() }()
	if err := app.Listen("127.0.0.1:9978"); err != nil {
		log.Error().Err(err).Msg("serve")
	}
}
