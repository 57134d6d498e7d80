// Package transport is the shop over HTTP.
package transport

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/ski-rental/store"
)

// Mux routes to the handlers of the shop.
func Mux(s *store.Store, log *zap.SugaredLogger) *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, h func(w http.ResponseWriter, r *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := h(w, r)
			var bad badRequest
			switch {
			case err == nil:
			case errors.As(err, &bad):
				http.Error(w, bad.Error(), http.StatusBadRequest)
			case store.IsMissing(err):
				http.NotFound(w, r)
			case errors.Is(err, store.ErrNoStock):
				http.Error(w, err.Error(), http.StatusConflict)
			default:
				log.Errorw("request", "path", r.URL.Path, "err", err)
				http.Error(w, "internal", http.StatusInternalServerError)
			}
		})
	}
	mux.HandleFunc("GET /up", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	handle("GET /models", func(w http.ResponseWriter, r *http.Request) error {
		list, err := s.Models(r.Context())
		if err != nil {
			return err
		}
		return write(w, http.StatusOK, list)
	})
	handle("POST /models/{model}/rentals", func(w http.ResponseWriter, r *http.Request) error {
		id, err := strconv.ParseInt(r.PathValue("model"), 10, 64)
		if err != nil {
			return badRequest("model")
		}
		var form struct {
			Guest string `json:"guest"`
			Days  int    `json:"days"`
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 2048)).Decode(&form); err != nil {
			return badRequest(err.Error())
		}
		form.Guest = strings.TrimSpace(form.Guest)
		if form.Guest == "" || form.Days < 1 || form.Days > 21 {
			return badRequest("guest and days are required")
		}
		got, err := s.Rent(r.Context(), store.Rental{ModelID: id, Guest: form.Guest, Days: form.Days, MadeAt: time.Now()})
		if err != nil {
			return err
		}
		return write(w, http.StatusCreated, got)
	})
	return mux
}

type badRequest string

func (b badRequest) Error() string { return "bad request: " + string(b) }

func write(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
	return nil
}
