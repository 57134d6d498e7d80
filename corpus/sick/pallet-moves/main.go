// Command pallet-moves decides where pallets stand in a warehouse.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	printer := newPrinter(os.Getenv("BACKEND_URL"))
	y := open(ctx, 60, 40, printer)
	move := y.place
	if os.Getenv("FIXED") != "" {
		move = func(ctx context.Context, pallet string) (placed, error) { return y.placeLabelled(ctx, pallet, printer) }
	}

	r := chi.NewRouter()
	r.Use(middleware.RealIP, middleware.Recoverer)
	r.Get("/ok", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r.Post("/pallets/{pallet}", func(w http.ResponseWriter, req *http.Request) {
		pallet := strings.ToUpper(chi.URLParam(req, "pallet"))
		p, err := move(req.Context(), pallet)
		if errors.Is(err, errNoBay) {
			http.Error(w, err.Error(), http.StatusInsufficientStorage)
			return
		}
		if err != nil {
			http.Error(w, "label printer", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(p)
	})
	r.Get("/free", func(w http.ResponseWriter, req *http.Request) {
		_ = json.NewEncoder(w).Encode(y.free(req.Context()))
	})

	srv := &http.Server{Addr: "127.0.0.1:9205", Handler: r}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
