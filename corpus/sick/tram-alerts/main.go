// Command tram-alerts shows how the trams of a city run.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/redline-go/redline/corpus/sick/tram-alerts/mid"
	"github.com/redline-go/redline/corpus/sick/tram-alerts/transit"
)

var words = map[string]map[string]string{
	"en": {"ok": "good service", "": "unknown"},
	"de": {"ok": "planmäßig", "": "unbekannt"},
	"fr": {"ok": "trafic normal", "": "inconnu"},
}

type board struct {
	network  *transit.Network
	operator *transit.Operator
	log      *slog.Logger
}

func (b *board) line(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("line"))
	if err != nil {
		http.Error(w, "line: a number", http.StatusBadRequest)
		return
	}
	line, ok := b.network.Line(id)
	if !ok {
		http.NotFound(w, r)
		return
	}
	status := b.operator.State(r.Context(), id)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "max-age=5")
	err = json.NewEncoder(w).Encode(map[string]any{
		"line": line, "state": status.State, "text": words[mid.Lang(r.Context())][status.State],
	})
	if err != nil {
		b.log.Warn("answer", "id", mid.ID(r.Context()), "err", err)
	}
}

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	network := transit.NewNetwork(60)
	var budget time.Duration
	if os.Getenv("FIXED") == "1" {
		budget = 60 * time.Millisecond
	}
	b := &board{network, transit.NewOperator(os.Getenv("BACKEND_URL"), network, budget, log), log}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /lines/{line}", b.line)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	srv := &http.Server{
		Addr:    "127.0.0.1:9967",
		Handler: mid.Chain(mux, mid.Recovered(log), mid.Numbered(), mid.Within(150*time.Millisecond), mid.Language("en", "de", "fr")),
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Error("serve", "err", err)
		os.Exit(1)
	}
}
