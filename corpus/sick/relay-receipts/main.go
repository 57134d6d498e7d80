// Command relay-receipts takes receipts of money handed over at counters and
// answers when they are safe.
package main

import (
	"net/http"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/relay-receipts/internal/journal"
	"github.com/redline-go/redline/corpus/sick/relay-receipts/internal/receipts"
	"github.com/redline-go/redline/corpus/sick/relay-receipts/internal/web"
)

func main() {
	log := zerolog.New(os.Stderr).Level(zerolog.WarnLevel).With().Timestamp().Logger()
	dir, err := os.MkdirTemp("", "relay-receipts-")
	if err != nil {
		log.Fatal().Err(err).Msg("dir")
	}
	defer os.RemoveAll(dir)
	open := journal.OpenLines
	if os.Getenv("FIXED") == "1" {
		open = journal.OpenGroups
	}
	j, err := open(filepath.Join(dir, "receipts.log"))
	if err != nil {
		log.Error().Err(err).Msg("journal")
		return
	}
	defer j.Close()
	if err := http.ListenAndServe("127.0.0.1:23619", web.Routes(receipts.NewBook(j), log)); err != nil {
		log.Error().Err(err).Msg("listen")
	}
}
