// Command trip-forecast adds the weather to trips.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"time"

	"go.uber.org/zap"
)

type traceKey struct{}

type source interface {
	At(ctx context.Context, place string) (state string, err error)
}

type station struct {
	base   string
	client *http.Client
}

func (s *station) At(ctx context.Context, place string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/weather?place="+place, nil)
	if err != nil {
		return "", err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var answer struct{ State string }
	err = json.NewDecoder(resp.Body).Decode(&answer)
	return answer.State, err
}

type trips struct {
	root     context.Context
	weather  source
	patience time.Duration
	log      *zap.Logger
}

// scope hangs the request's values into the tree below the service's root.
func (t *trips) scope(r *http.Request) (context.Context, context.CancelFunc) {
	ctx := context.WithValue(t.root, traceKey{}, r.Header.Get("X-Trace"))
	if t.patience > 0 {
		return context.WithTimeout(ctx, t.patience)
	}
	return context.WithCancel(ctx)
}

func (t *trips) forecast(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := t.scope(r)
	defer cancel()
	out := map[string]any{"trip": r.PathValue("trip"), "weather": "unknown"}
	if state, err := t.weather.At(ctx, r.PathValue("trip")); err == nil {
		out["weather"] = state
	} else {
		t.log.Debug("weather", zap.Error(err), zap.Any("trace", ctx.Value(traceKey{})))
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

func main() {
	log := zap.Must(zap.NewProduction())
	root, stop := context.WithCancel(context.Background())
	defer stop()
	t := &trips{root: root, log: log, weather: &station{
		base:   os.Getenv("BACKEND_URL"),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}}
	if os.Getenv("FIXED") == "1" {
		t.patience = 80 * time.Millisecond
	}
	http.HandleFunc("GET /trips/{trip}/forecast", t.forecast)
	http.HandleFunc("GET /alive", func(http.ResponseWriter, *http.Request) {})
	log.Fatal("serve", zap.Error(http.ListenAndServe("127.0.0.1:9826", nil)))
}
