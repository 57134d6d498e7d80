// Package web wraps functions as handlers.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/rs/zerolog"
)

// Bad is an error that the caller has made.
type Bad string

// Error implements error.
func (b Bad) Error() string { return string(b) }

// JSON serves a function of a document to a document.
func JSON[In, Out any](log zerolog.Logger, f func(context.Context, In) (Out, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in In
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&in); err != nil {
			http.Error(w, "not the JSON that is expected", http.StatusBadRequest)
			return
		}
		out, err := f(r.Context(), in)
		var bad Bad
		switch {
		case errors.As(err, &bad):
			http.Error(w, bad.Error(), http.StatusUnprocessableEntity)
			return
		case err != nil:
			log.Error().Err(err).Str("path", r.URL.Path).Msg("request")
			http.Error(w, "internal error", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	})
}

// Guard answers 500 where a handler panics.
func Guard(log zerolog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler {
				log.Error().Interface("panic", v).Send()
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}
