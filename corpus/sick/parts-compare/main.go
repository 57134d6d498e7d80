// Command parts-compare shows garages what car parts cost at several suppliers.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/go-resty/resty/v2"
	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/parts-compare/quote"
	"github.com/redline-go/redline/corpus/sick/parts-compare/suppliers"
)

var partNumber = regexp.MustCompile(`^[A-Z]{2}-[0-9]{3,6}$`)

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	client := resty.NewWithClient(&http.Client{Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256}}).
		SetBaseURL(os.Getenv("BACKEND_URL")).SetTimeout(2 * time.Second)
	desk := &quote.Desk{
		Suppliers: suppliers.All(client),
		Width:     1,
		Patience:  1500 * time.Millisecond,
		Missed:    func(name string, err error) { log.Warn().Str("supplier", name).Err(err).Msg("no offer") },
	}
	if os.Getenv("FIXED") == "1" {
		desk.Width = len(desk.Suppliers)
	}

	r := httprouter.New()
	r.PanicHandler = func(w http.ResponseWriter, _ *http.Request, v any) {
		log.Error().Any("panic", v).Msg("request")
		w.WriteHeader(http.StatusInternalServerError)
	}
	r.GET("/alive", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) { w.WriteHeader(http.StatusNoContent) })
	r.GET("/parts/:part/offers", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		part := p.ByName("part")
		if !partNumber.MatchString(part) {
			http.Error(w, "part: two letters, dash, number", http.StatusBadRequest)
			return
		}
		offers, err := desk.Compare(r.Context(), part)
		switch {
		case errors.Is(err, quote.ErrNobody):
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		case err != nil:
			log.Error().Err(err).Str("part", part).Msg("compare")
			http.Error(w, "unavailable", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"part": part, "best": offers[0], "offers": offers})
	})
	srv := &http.Server{Addr: "127.0.0.1:9966", Handler: r}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal().Err(err).Send()
	}
}
