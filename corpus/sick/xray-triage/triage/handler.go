package triage

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/redline-go/redline/corpus/sick/xray-triage/pipe"
)

// Handler answers POSTs of studies with their verdicts.
func Handler(d *Desk, log *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var s Study
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 256<<10)).Decode(&s); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		v, err := d.Judge(r.Context(), s)
		switch {
		case err == nil:
		case errors.Is(err, ErrImage):
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		case errors.Is(err, context.Canceled):
			return
		case errors.Is(err, pipe.ErrClosed), errors.Is(err, context.DeadlineExceeded):
			http.Error(w, "too busy", http.StatusServiceUnavailable)
			return
		default:
			log.Warn("study", "id", s.ID, "err", err)
			http.Error(w, "try again", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			log.Debug("answer", "err", err)
		}
	}
}
