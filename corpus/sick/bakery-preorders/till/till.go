// Package till is the HTTP side.
package till

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/bakery-preorders/orders"
)

// Desk takes orders.
type Desk interface {
	Place(ctx context.Context, o orders.Order) (orders.Slip, error)
}

// Routes returns the routes.
func Routes(d Desk, log zerolog.Logger) http.Handler {
	r := httprouter.New()
	r.GET("/ok", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {})
	r.POST("/shops/:shop/orders", func(w http.ResponseWriter, req *http.Request, p httprouter.Params) {
		var o orders.Order
		if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, 4096)).Decode(&o); err != nil || o.Count < 1 || o.Loaf == "" {
			http.Error(w, "customer, loaf and count", http.StatusBadRequest)
			return
		}
		slip, err := d.Place(req.Context(), o)
		if err != nil {
			log.Warn().Err(err).Str("shop", p.ByName("shop")).Msg("not placed")
			http.Error(w, "not placed", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(slip)
	})
	return r
}
