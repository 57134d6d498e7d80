// Package web serves the board.
package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/redline-go/redline/corpus/sick/tram-occupancy/internal/board"
)

// Board is what is served.
type Board interface {
	Line(line int) []board.Tram
	Report(ctx context.Context, vehicle, on, off int) (board.Tram, error)
}

type middleware func(http.Handler) http.Handler

func chain(h http.Handler, ms ...middleware) http.Handler {
	for i := len(ms) - 1; i >= 0; i-- {
		h = ms[i](h)
	}
	return h
}

func noStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func limit(next http.Handler) http.Handler { return http.MaxBytesHandler(next, 4<<10) }

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// Handler returns the routes.
func Handler(b Board) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /lines/{line}", func(w http.ResponseWriter, r *http.Request) {
		line, err := strconv.Atoi(r.PathValue("line"))
		if err != nil {
			http.Error(w, "line", http.StatusBadRequest)
			return
		}
		reply(w, b.Line(line))
	})
	mux.HandleFunc("POST /trams/{tram}/doors", func(w http.ResponseWriter, r *http.Request) {
		tram, err := strconv.Atoi(r.PathValue("tram"))
		var in struct{ On, Off int }
		if err == nil {
			err = json.NewDecoder(r.Body).Decode(&in)
		}
		if err != nil {
			http.Error(w, "tram, on and off", http.StatusBadRequest)
			return
		}
		t, err := b.Report(r.Context(), tram, in.On, in.Off)
		if err != nil {
			http.Error(w, "depot", http.StatusBadGateway)
			return
		}
		reply(w, t)
	})
	return chain(mux, noStore, limit)
}
