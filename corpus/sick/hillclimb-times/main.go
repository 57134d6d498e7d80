// Command hillclimb-times reports how riders stand on a climb.
package main

import (
	"os"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/hillclimb-times/internal/climbs"
	"github.com/redline-go/redline/corpus/sick/hillclimb-times/internal/server"
)

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	var opts []climbs.Option
	if os.Getenv("FIXED") == "1" {
		opts = append(opts, climbs.Ordered())
	}
	app := server.New(climbs.New(12, 2400, opts...), log)
	if err := app.Listen("127.0.0.1:23601"); err != nil {
		log.Fatal().Err(err).Msg("listen")
	}
}
