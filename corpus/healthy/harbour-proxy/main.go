// Command harbour-proxy tells where a ship lies. It asks for the ship's berth and then
// for what is known of that berth: two calls in a row, of which the second needs the
// answer of the first, and both come back at once over kept connections.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"golang.org/x/sync/semaphore"
)

type port struct {
	url   string
	http  *http.Client
	calls *semaphore.Weighted
}

func fetch[T any](ctx context.Context, p *port, path string, args ...any) (v T, err error) {
	if err = p.calls.Acquire(ctx, 1); err != nil {
		return v, err
	}
	defer p.calls.Release(1)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+fmt.Sprintf(path, args...), nil)
	if err != nil {
		return v, err
	}
	resp, err := p.http.Do(req)
	if err != nil {
		return v, err
	}
	defer resp.Body.Close()
	return v, json.NewDecoder(resp.Body).Decode(&v)
}

type state struct {
	State string `json:"state"`
	Note  string `json:"note"`
}

func (p *port) where(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	berth, err := fetch[state](ctx, p, "/ships/%s/berth", chi.URLParam(r, "ship"))
	if err == nil {
		berth, err = fetch[state](ctx, p, "/berths/%d", utf8.RuneCountInString(berth.Note))
	}
	if err != nil {
		slog.Warn("port", "err", err)
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	_ = json.NewEncoder(w).Encode(berth)
}

func main() {
	p := &port{
		url:   os.Getenv("BACKEND_URL"),
		http:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		calls: semaphore.NewWeighted(48),
	}
	r := chi.NewRouter()
	r.Get("/ships/{ship}", p.where)
	r.Get("/ready", func(http.ResponseWriter, *http.Request) {})
	slog.Error("serve", "err", http.ListenAndServe("127.0.0.1:9881", r))
}
