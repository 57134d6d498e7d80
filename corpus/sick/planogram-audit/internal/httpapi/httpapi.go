// Package httpapi serves audits.
package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/redline-go/redline/corpus/sick/planogram-audit/internal/audit"
	"github.com/redline-go/redline/corpus/sick/planogram-audit/internal/plan"
)

// Auditor is what the API needs.
type Auditor interface {
	Audit(ctx context.Context, store int) (*audit.Report, error)
}

// New returns the API.
func New(a Auditor, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /stores/{store}/audit", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("store"))
		if err != nil {
			http.Error(w, "store: a number", http.StatusBadRequest)
			return
		}
		rep, err := a.Audit(r.Context(), id)
		switch {
		case errors.Is(err, plan.ErrNotFound):
			http.NotFound(w, r)
		case err != nil:
			http.Error(w, "internal", http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(rep)
		}
	})
	return access(log, http.TimeoutHandler(mux, 5*time.Second, "too slow"))
}

func access(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		next.ServeHTTP(w, r)
		log.Debug("request", "path", r.URL.Path, "took", time.Since(start))
	})
}
