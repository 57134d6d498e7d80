// Command signal-wait lets train drivers wait for the next change of their signals.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/mux"

	"github.com/redline-go/redline/corpus/healthy/signal-wait/bulletin"
)

func wait(b *bulletin.Bulletin) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
		if after == 0 {
			after = b.Current().Number
		}
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		n, ok := b.After(ctx, after)
		if !ok {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(n)
	}
}

func main() {
	b := bulletin.New()
	go func() {
		aspects := []string{"halt", "caution", "clear"}
		for i := range time.Tick(200 * time.Millisecond) {
			b.Publish(aspects[i.UnixMilli()/200%3], int(i.UnixMilli()%90))
		}
	}()
	r := mux.NewRouter()
	r.HandleFunc("/signals/next", wait(b)).Methods(http.MethodGet)
	r.HandleFunc("/signals/now", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(b.Current()) })
	log.Fatal(http.ListenAndServe("127.0.0.1:21335", r))
}
