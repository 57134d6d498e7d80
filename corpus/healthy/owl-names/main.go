// Command owl-names proposes names for owls from parts of names. Names that were
// asked for lately are kept.
package main

import (
	"os"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"github.com/redline-go/redline/corpus/healthy/owl-names/internal/names"
	"github.com/redline-go/redline/corpus/healthy/owl-names/internal/server"
)

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	kept, err := names.Keep(names.Maker{Parts: names.Parts}, 256)
	if err != nil {
		log.Fatal().Err(err).Msg("names")
	}
	srv := &fasthttp.Server{Handler: server.Handler(kept, log.Sample(&zerolog.BasicSampler{N: 10})), NoDefaultServerHeader: true}
	if err := srv.ListenAndServe("127.0.0.1:23625"); err != nil {
		log.Fatal().Err(err).Msg("listen")
	}
}
