// Command meter-shaper turns the readings of old meters into the form of new ones.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/healthy/meter-shaper/shape"
)

type counters struct{ documents, readings, refused atomic.Int64 }

func transform(c *counters) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var old shape.Old
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 256<<10)).Decode(&old); err != nil {
			c.refused.Add(1)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, err := shape.Convert(old)
		var bad *shape.Error
		if errors.As(err, &bad) {
			c.refused.Add(1)
			http.Error(w, bad.Error(), http.StatusUnprocessableEntity)
			return
		}
		c.documents.Add(1)
		c.readings.Add(int64(len(out.Readings)))
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(out); err != nil {
			log.Printf("answer to %s: %v", r.RemoteAddr, err)
		}
	}
}

func main() {
	var c counters
	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Post("/convert", transform(&c))
	r.Get("/counters", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]int64{
			"documents": c.documents.Load(), "readings": c.readings.Load(), "refused": c.refused.Load(),
		})
	})
	srv := &http.Server{Addr: "127.0.0.1:9220", Handler: r, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	log.Fatal(srv.ListenAndServe())
}
