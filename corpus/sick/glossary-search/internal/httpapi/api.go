// Package httpapi is the HTTP face of the glossary.
package httpapi

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"

	"github.com/redline-go/redline/corpus/sick/glossary-search/internal/index"
)

// API answers over HTTP.
type API struct {
	glossary *index.Index
	log      *slog.Logger
}

// New returns the API of a glossary.
func New(g *index.Index, log *slog.Logger) *API { return &API{glossary: g, log: log} }

// Routes returns the mux.
func (a *API) Routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/lookup", a.lookup)
	mux.HandleFunc("PUT /v1/entries/{term}", a.put)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return mux
}

func (a *API) lookup(w http.ResponseWriter, r *http.Request) {
	term := strings.ToLower(strings.TrimSpace(r.URL.Query().Get("term")))
	if term == "" {
		http.Error(w, "term is missing", http.StatusBadRequest)
		return
	}
	hits, err := a.glossary.Lookup(r.Context(), term, 5)
	if err != nil {
		a.log.Warn("lookup", "term", term, "err", err)
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct {
		Term string      `json:"term"`
		Hits []index.Hit `json:"hits"`
	}{term, hits})
}

func (a *API) put(w http.ResponseWriter, r *http.Request) {
	var in struct{ Translation string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := a.glossary.Put(r.Context(), index.Entry{Term: r.PathValue("term"), Translation: in.Translation}); err != nil {
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
