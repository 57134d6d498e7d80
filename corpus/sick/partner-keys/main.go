// Command partner-keys serves partners, which identify themselves with a key.
package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

type guard interface {
	Verify(partner, key string) bool
}

type partnerKey struct{}

type app struct {
	guard    guard
	log      *slog.Logger
	requests atomic.Uint64
	prices   map[string]int
}

func (a *app) authenticated(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		partner, key, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "Key "), ":")
		if !ok || !a.guard.Verify(partner, key) {
			a.log.Warn("refused", "partner", partner, "remote", r.RemoteAddr)
			w.Header().Set("WWW-Authenticate", "Key")
			http.Error(w, "key", http.StatusUnauthorized)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), partnerKey{}, partner)))
	})
}

func (a *app) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.requests.Add(1)
		next.ServeHTTP(w, r)
	})
}

func (a *app) price(w http.ResponseWriter, r *http.Request) {
	partner, _ := r.Context().Value(partnerKey{}).(string)
	cents, ok := a.prices[r.PathValue("article")]
	if !ok {
		cents = 100 + len(r.PathValue("article"))*250
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"partner": partner, "cents": cents})
}

func main() {
	a := &app{log: slog.New(slog.NewTextHandler(os.Stderr, nil)), prices: map[string]int{"rope": 1290, "sail": 88000}}
	ring, err := newKeyring(map[string]string{"acme": "blue-heron-41", "boats": "green-otter-7", "crane": "red-kite-90"})
	if err != nil {
		a.log.Error("keys", "err", err)
		os.Exit(1)
	}
	a.guard = ring
	if os.Getenv("FIXED") != "" {
		a.guard = &remembering{guard: ring, ttl: 5 * time.Minute}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /v2/prices/{article}", a.counted(a.authenticated(a.price)))
	mux.HandleFunc("GET /v2/status", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]uint64{"requests": a.requests.Load()})
	})
	a.log.Error("serve", "err", http.ListenAndServe("127.0.0.1:9211", mux))
}
