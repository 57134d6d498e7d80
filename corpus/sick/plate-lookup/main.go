// Command plate-lookup tells where vehicles with a number plate come from, for
// the barriers of car parks.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/plate-lookup/plates"
	"github.com/redline-go/redline/corpus/sick/plate-lookup/web"
)

type lookup struct {
	Plate string `json:"plate"`
	Lane  string `json:"lane"`
}

type verdict struct {
	Plate   string `json:"plate"`
	Country string `json:"country"`
	Region  string `json:"region,omitempty"`
	Class   string `json:"class"`
	Cents   int    `json:"cents"`
}

type desk struct {
	register *plates.Register
	tariff   map[string]int
}

func (d *desk) look(_ context.Context, in lookup) (verdict, error) {
	if in.Lane == "" {
		return verdict{}, web.Bad("lane is required")
	}
	p, err := d.register.Identify(in.Plate)
	if errors.Is(err, plates.ErrUnreadable) {
		return verdict{}, web.Bad("the plate cannot be read")
	}
	if err != nil {
		return verdict{}, err
	}
	return verdict{Plate: p.Text, Country: p.Country, Region: p.Region, Class: p.Class, Cents: d.tariff[p.Class]}, nil
}

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	d := &desk{plates.NewRegister(), map[string]int{"private": 350, "electric": 175, "diplomatic": 0}}
	mux := http.NewServeMux()
	mux.Handle("POST /lookups", web.JSON(log, d.look))
	mux.HandleFunc("GET /livez", func(http.ResponseWriter, *http.Request) {})
	srv := &http.Server{Addr: "127.0.0.1:9348", Handler: web.Guard(log, mux)}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal().Err(err).Msg("serve")
	}
}
