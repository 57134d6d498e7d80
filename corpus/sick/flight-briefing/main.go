// Command flight-briefing gathers what a pilot must read before a flight.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/flight-briefing/brief"
	"github.com/redline-go/redline/corpus/sick/flight-briefing/source"
)

type server struct {
	desk *brief.Desk
	log  zerolog.Logger
}

func (s *server) briefing(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	from, to := strings.ToUpper(p.ByName("from")), strings.ToUpper(p.ByName("to"))
	if len(from) != 4 || len(to) != 4 || from == to {
		http.Error(w, "two ICAO codes are required", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	b, err := s.desk.Prepare(ctx, brief.Flight{From: from, To: to, Level: r.URL.Query().Get("level")})
	if err != nil {
		s.log.Error().Err(err).Str("from", from).Str("to", to).Msg("briefing")
		http.Error(w, "briefing is not available", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(b)
}

func logged(log zerolog.Logger, slow time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		next.ServeHTTP(w, r)
		if took := time.Since(begin); took > slow {
			log.Warn().Dur("took", took).Str("path", r.URL.Path).Msg("slow")
		}
	})
}

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	client := source.NewClient(os.Getenv("BACKEND_URL"), 800*time.Millisecond)
	desk := brief.NewDesk(
		source.Weather{Client: client},
		source.Notices{Client: client},
		source.Winds{Client: client},
		source.Fuel{Client: client, Margin: 1.1},
		source.Slots{Client: client},
	)
	s := &server{desk, log}
	r := httprouter.New()
	r.GET("/alive", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {})
	r.GET("/briefings/:from/:to", s.briefing)
	r.PanicHandler = func(w http.ResponseWriter, _ *http.Request, v any) {
		log.Error().Interface("panic", v).Send()
		w.WriteHeader(http.StatusInternalServerError)
	}

	srv := &http.Server{Addr: "127.0.0.1:9344", Handler: logged(log, time.Second, r)}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal().Err(err).Msg("serve")
	}
}
