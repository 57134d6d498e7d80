// Command stadium-queue shows visitors of a stadium how long they wait at each gate.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/redline-go/redline/corpus/sick/stadium-queue/gates"
)

type layer func(http.Handler) http.Handler

func stack(h http.Handler, layers ...layer) http.Handler {
	for i := len(layers) - 1; i >= 0; i-- {
		h = layers[i](h)
	}
	return h
}

func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

func recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if e := recover(); e != nil {
				log.Println("panic:", e)
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func main() {
	var opts []gates.Option
	if os.Getenv("FIXED") == "1" {
		opts = append(opts, gates.Together())
	}
	board := gates.NewBoard(os.Getenv("BACKEND_URL"), 150*time.Millisecond, opts...)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /stands/{stand}/gates", func(w http.ResponseWriter, r *http.Request) {
		list, err := board.Stand(r.Context(), r.PathValue("stand"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(list)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:21314", stack(mux, recovering, secure)))
}
