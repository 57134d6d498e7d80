// Package web has the routes.
package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/gorilla/mux"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/voyage-brief/internal/briefing"
)

// Briefer makes briefings.
type Briefer interface {
	Brief(ctx context.Context, port string) (*briefing.Briefing, error)
}

// Routes returns the routes.
func Routes(b Briefer, log *logrus.Logger) http.Handler {
	r := mux.NewRouter()
	r.HandleFunc("/ready", func(http.ResponseWriter, *http.Request) {}).Methods(http.MethodGet)
	r.HandleFunc("/ports/{port}/briefing", func(w http.ResponseWriter, r *http.Request) {
		port := mux.Vars(r)["port"]
		doc, err := b.Brief(r.Context(), port)
		if err != nil {
			log.WithError(err).Warn("briefing")
			http.Error(w, "briefing", http.StatusBadGateway)
			return
		}
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetIndent("", "  ")
		if err := enc.Encode(doc); err != nil {
			http.Error(w, "encode", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = buf.WriteTo(w)
	}).Methods(http.MethodGet)
	return r
}
