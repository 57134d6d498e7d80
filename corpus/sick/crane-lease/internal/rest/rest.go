// Package rest is the ledger over HTTP.
package rest

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/google/uuid"
	"github.com/gorilla/mux"

	"github.com/redline-go/redline/corpus/sick/crane-lease/internal/ledger"
)

// New makes the handler over l.
func New(l *ledger.Ledger, log *slog.Logger) http.Handler {
	s := &server{l, log}
	r := mux.NewRouter()
	r.Use(s.recovered, named)
	r.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }).Methods(http.MethodGet)
	r.HandleFunc("/cranes/{crane:[0-9]+}/hours/{hour:[0-9]+}", s.lease).Methods(http.MethodPut)
	r.HandleFunc("/cranes/{crane:[0-9]+}/hours/{hour:[0-9]+}/lease", s.lease).Methods(http.MethodPost)
	r.HandleFunc("/hours", s.hours).Methods(http.MethodGet)
	return r
}

type server struct {
	ledger *ledger.Ledger
	log    *slog.Logger
}

func (s *server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("panic", "value", p, "stack", string(debug.Stack()))
				http.Error(w, "internal", http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if id == "" {
			id = uuid.NewString()
		}
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r)
	})
}

func (s *server) lease(w http.ResponseWriter, r *http.Request) {
	var want ledger.Lease
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&want); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	v := mux.Vars(r)
	want.Crane, _ = strconv.Atoi(v["crane"])
	want.Hour, _ = strconv.Atoi(v["hour"])
	if want.Vessel == "" || want.Tonnes < 1 {
		http.Error(w, "vessel and tonnes are required", http.StatusUnprocessableEntity)
		return
	}
	got, err := s.ledger.Lease(r.Context(), want)
	switch {
	case errors.Is(err, ledger.ErrTaken), errors.Is(err, ledger.ErrHeld):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		s.log.Warn("lease", "crane", want.Crane, "hour", want.Hour, "err", err)
		http.Error(w, "not now", http.StatusServiceUnavailable)
	default:
		s.write(w, got)
	}
}

func (s *server) hours(w http.ResponseWriter, r *http.Request) {
	hours, err := s.ledger.Hours(r.Context())
	if err != nil {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	s.write(w, map[string][]int{"hours": hours})
}

func (s *server) write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.log.Warn("answer", "err", err)
	}
}
