// Command brewery-labels checks labels of beers with the office of excise.
package main

import (
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/brewery-labels/internal/excise"
	"github.com/redline-go/redline/corpus/sick/brewery-labels/internal/labels"
	"github.com/redline-go/redline/corpus/sick/brewery-labels/internal/server"
)

func main() {
	log := zerolog.New(os.Stderr).Level(zerolog.InfoLevel).With().Timestamp().Str("app", "labels").Logger()
	opts := []excise.Option{excise.Timeout(3 * time.Second)}
	if os.Getenv("FIXED") == "1" {
		opts = append(opts, excise.Parallel(64))
	}
	svc := labels.New(excise.New(os.Getenv("BACKEND_URL"), opts...), log)
	if err := server.New(svc, log).Run("127.0.0.1:23610"); err != nil {
		log.Fatal().Err(err).Msg("listen")
	}
}
