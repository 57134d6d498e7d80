// Command slot-broker reserves delivery slots with the carriers of a region.
package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/julienschmidt/httprouter"
	"go.uber.org/zap"
)

func main() {
	log := zap.Must(zap.NewProduction())
	defer func() { _ = log.Sync() }()
	broker := NewBroker(Carrier(os.Getenv("BACKEND_URL"), 2*time.Second))
	go broker.sweep(time.Second)

	r := httprouter.New()
	r.GET("/live", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) { w.WriteHeader(http.StatusOK) })
	r.POST("/slots/:slot", func(w http.ResponseWriter, req *http.Request, p httprouter.Params) {
		hold, err := broker.Reserve(req.Context(), p.ByName("slot"), req.Header.Get("X-Customer"))
		switch {
		case errors.Is(err, ErrFull):
			http.Error(w, err.Error(), http.StatusConflict)
		case err != nil:
			log.Warn("reserve", zap.Error(err))
			http.Error(w, "carrier", http.StatusBadGateway)
		default:
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(hold)
		}
	})
	r.GET("/slots/:slot", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		_ = json.NewEncoder(w).Encode(map[string]int{"taken": broker.Taken(p.ByName("slot"))})
	})
	log.Fatal("serve", zap.Error(http.ListenAndServe("127.0.0.1:9204", r)))
}
