// Package api is the HTTP side.
package api

import (
	"encoding/json"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/redline-go/redline/corpus/sick/warbler-atlas/internal/atlas"
)

// New returns the routes.
func New(a *atlas.Atlas) http.Handler {
	r := httprouter.New()
	r.GET("/healthz", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	r.GET("/squares/:square", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		list := a.Summarize(p.ByName("square"))
		if len(list) == 0 {
			http.Error(w, "empty", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list)
	})
	return r
}
