// Command scale-calibrations judges the protocols of calibrated scales.
package main

import (
	"net/http"
	"os"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/healthy/scale-calibrations/internal/bench"
	"github.com/redline-go/redline/corpus/healthy/scale-calibrations/internal/web"
)

func main() {
	log := zerolog.New(os.Stderr).Level(zerolog.WarnLevel).With().Timestamp().Caller().Logger()
	if err := http.ListenAndServe("127.0.0.1:23436", web.New(bench.New(), log)); err != nil {
		log.Fatal().Err(err).Msg("listen")
	}
}
