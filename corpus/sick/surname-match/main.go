// Command surname-match finds spellings of a family name in a parish register.
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/surname-match/register"
	"github.com/redline-go/redline/corpus/sick/surname-match/similarity"
	"github.com/redline-go/redline/corpus/sick/surname-match/web"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:9741", "address to listen on")
	size := flag.Int("size", 5000, "names in the register")
	metric := flag.String("metric", "jaro-winkler", "how spellings are compared: jaro-winkler or dice")
	flag.Parse()
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	m, err := similarity.ByName(*metric)
	if err != nil {
		log.Fatal().Err(err).Msg("metric")
	}
	app := web.New(register.New(register.Spellings(*size), m), log)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = app.Shutdown() })
	if err := app.Listen(*addr); err != nil {
		log.Fatal().Err(err).Msg("serve")
	}
}
