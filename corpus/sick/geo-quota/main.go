// Command geo-quota looks places up. A rate limiter in a middleware holds every
// request back to 250 a second, far below what the service could do.
package main

import (
	"encoding/json"
	"log"
	"net/http"

	"golang.org/x/time/rate"
)

type middleware func(http.Handler) http.Handler

func paced(l *rate.Limiter) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := l.Wait(r.Context()); err != nil {
				http.Error(w, err.Error(), http.StatusTooManyRequests)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

type gazetteer map[string][2]float64

func (g gazetteer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at, ok := g[r.PathValue("place")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(at)
}

func main() {
	g := gazetteer{"bern": {46.9, 7.4}, "graz": {47.1, 15.4}, "ulm": {48.4, 10.0}}
	mux := http.NewServeMux()
	mux.Handle("GET /places/{place}", paced(rate.NewLimiter(250, 5))(g))
	log.Fatal(http.ListenAndServe("127.0.0.1:9416", mux))
}
