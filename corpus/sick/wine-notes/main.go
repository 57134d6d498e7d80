package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/signal"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/sirupsen/logrus"
)

func main() {
	log := logrus.New()
	log.SetFormatter(&logrus.JSONFormatter{})
	var cellar Cellar = NewShelf()
	if os.Getenv("FIXED") == "1" {
		cellar = NewRack()
	}

	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	r.Route("/wines/{wine}/notes", func(r chi.Router) {
		r.Post("/", func(w http.ResponseWriter, req *http.Request) {
			wine, err := strconv.Atoi(chi.URLParam(req, "wine"))
			if err != nil {
				http.Error(w, "wine", http.StatusBadRequest)
				return
			}
			var n Note
			if err := json.NewDecoder(req.Body).Decode(&n); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			n.Wine = wine
			stored, created := cellar.Upsert(n)
			w.Header().Set("Content-Type", "application/json")
			if created {
				w.WriteHeader(http.StatusCreated)
			}
			if err := json.NewEncoder(w).Encode(stored); err != nil {
				log.WithError(err).Warn("answer")
			}
		})
	})

	srv := &http.Server{Addr: "127.0.0.1:9821", Handler: r}
	go func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt)
		<-c
		_ = srv.Close()
	}()
	log.WithField("addr", srv.Addr).Info("listening")
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
