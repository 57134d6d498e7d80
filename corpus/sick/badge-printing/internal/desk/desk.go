// Package desk is the HTTP side.
package desk

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/badge-printing/internal/press"
)

// Printer prints badges.
type Printer interface {
	Print(ctx context.Context, b press.Badge) (press.Badge, error)
}

// ledger has the last visitors.
type ledger struct {
	mu   sync.Mutex
	last [64]string
	n    int
}

func (l *ledger) note(name string) {
	l.mu.Lock()
	l.last[l.n%len(l.last)] = name
	l.n++
	l.mu.Unlock()
}

// Handler returns the routes.
func Handler(p Printer, log zerolog.Logger) http.Handler {
	var book ledger
	mux := http.NewServeMux()
	mux.HandleFunc("GET /alive", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /badges", func(w http.ResponseWriter, r *http.Request) {
		var b press.Badge
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil || b.Name == "" {
			http.Error(w, "name and host", http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
		defer cancel()
		b, err := p.Print(ctx, b)
		if err != nil {
			log.Warn().Err(err).Str("host", b.Host).Msg("not printed")
			http.Error(w, "out of order", http.StatusServiceUnavailable)
			return
		}
		book.note(b.Name)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(b)
	})
	return mux
}
