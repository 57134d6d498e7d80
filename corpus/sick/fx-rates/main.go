// Command fx-rates converts amounts. Most rates come at once; now and then the
// provider takes a long time, and those conversions are the tail.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/go-chi/chi/v5"
)

type provider struct {
	base string
	http *http.Client
}

type rate struct {
	State string `json:"state"`
}

func (p *provider) fetch(ctx context.Context, pair string) (rate, error) {
	var out rate
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+"/rates/"+pair, nil)
	if err != nil {
		return out, err
	}
	res, err := p.http.Do(req)
	if err != nil {
		return out, fmt.Errorf("rate of %s: %w", pair, err)
	}
	defer res.Body.Close()
	return out, json.NewDecoder(res.Body).Decode(&out)
}

func main() {
	p := &provider{base: os.Getenv("BACKEND_URL"), http: &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 100, IdleConnTimeout: time.Minute},
	}}
	r := chi.NewRouter()
	r.Get("/convert/{pair}", func(w http.ResponseWriter, req *http.Request) {
		got, err := p.fetch(req.Context(), chi.URLParam(req, "pair"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"pair": chi.URLParam(req, "pair"), "rate": 1.0842, "state": got.State})
	})
	r.Get("/up", func(w http.ResponseWriter, _ *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9622", r))
}
