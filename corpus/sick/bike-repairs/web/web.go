// Package web serves the books of a workshop.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/mux"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/bike-repairs/shop"
)

type handler func(ctx context.Context, vars map[string]string) (any, error)

var errBadID = errors.New("web: the id is no number")

// New makes the routes.
func New(store *shop.Store, log *logrus.Logger) http.Handler {
	r := mux.NewRouter()
	r.Use(within(3 * time.Second))
	r.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	r.Handle("/jobs/open", show(log, func(ctx context.Context, _ map[string]string) (any, error) {
		return store.Open(ctx, 20)
	})).Methods(http.MethodGet)
	r.Handle("/jobs/{id}/invoice", show(log, func(ctx context.Context, vars map[string]string) (any, error) {
		id, err := strconv.ParseInt(vars["id"], 10, 64)
		if err != nil {
			return nil, errBadID
		}
		return shop.Bill(ctx, store, id)
	})).Methods(http.MethodGet)
	return r
}

func within(d time.Duration) mux.MiddlewareFunc {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), d)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

func show(log *logrus.Logger, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := h(r.Context(), mux.Vars(r))
		switch {
		case errors.Is(err, shop.ErrNotFound):
			http.NotFound(w, r)
		case errors.Is(err, errBadID):
			http.Error(w, err.Error(), http.StatusBadRequest)
		case err != nil:
			log.WithError(err).WithField("path", r.URL.Path).Error("request failed")
			http.Error(w, "internal error", http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v)
		}
	})
}
