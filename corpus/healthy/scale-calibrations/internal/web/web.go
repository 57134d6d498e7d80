// Package web is the HTTP side.
package web

import (
	"encoding/xml"
	"net/http"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/healthy/scale-calibrations/internal/bench"
	"github.com/redline-go/redline/corpus/healthy/scale-calibrations/internal/protocol"
)

// New returns the routes.
func New(b *bench.Bench, log zerolog.Logger) http.Handler {
	r := httprouter.New()
	r.PanicHandler = func(w http.ResponseWriter, _ *http.Request, p any) {
		log.Error().Interface("panic", p).Send()
		w.WriteHeader(http.StatusInternalServerError)
	}
	r.GET("/ok", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	r.POST("/protocols", func(w http.ResponseWriter, req *http.Request, _ httprouter.Params) {
		p, err := protocol.Read(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		v, err := b.Judge(p)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		log.Debug().Str("scale", p.Scale).Bool("pass", v.Pass).Msg("judged")
		w.Header().Set("Content-Type", "application/xml")
		_ = xml.NewEncoder(w).Encode(v)
	})
	return r
}
