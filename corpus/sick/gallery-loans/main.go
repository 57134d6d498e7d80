// Command gallery-loans shows lenders and curators where the works on loan are.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/gallery-loans/docstore"
	"github.com/redline-go/redline/corpus/sick/gallery-loans/loans"
)

func main() {
	engine := docstore.NewMemory()
	exhibitions := docstore.NewRepo[loans.Exhibition](engine, docstore.JSON{}, "exhibition")
	if err := loans.Seed(exhibitions, 40, 90); err != nil {
		log.Fatal(err)
	}
	desk := loans.NewDesk(exhibitions)

	r := chi.NewRouter()
	r.Use(middleware.RealIP, middleware.Recoverer, middleware.Timeout(5*time.Second))
	r.Get("/ready", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	r.Route("/exhibitions/{exhibition}", func(r chi.Router) {
		r.Get("/", desk.Summary)
		r.Get("/loans/{loan}", desk.Loan)
		r.Put("/loans/{loan}/state", desk.Move)
	})

	srv := &http.Server{Addr: "127.0.0.1:9341", Handler: r, ReadHeaderTimeout: 2 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
