// Package rest is the HTTP interface of the survey.
package rest

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/mux"

	"github.com/redline-go/redline/corpus/sick/survey-answers/survey"
)

const largest = 64 << 10

// Handler makes the routes of a service.
func Handler(s *survey.Service) http.Handler {
	r := mux.NewRouter()
	r.Use(recovered, bounded)
	r.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}).Methods(http.MethodGet)
	r.HandleFunc("/sheets", submit(s)).Methods(http.MethodPost).Headers("Content-Type", "application/json")
	r.HandleFunc("/households/{household:[0-9]+}", show(s)).Methods(http.MethodGet)
	return r
}

func submit(s *survey.Service) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var sheet survey.Sheet
		if err := json.NewDecoder(r.Body).Decode(&sheet); err != nil {
			write(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		began := time.Now()
		id, err := s.Submit(r.Context(), sheet)
		if errors.Is(err, survey.ErrInvalid) {
			write(w, http.StatusUnprocessableEntity, map[string]string{"error": err.Error()})
			return
		}
		if err != nil {
			log.Printf("sheet of %d after %v: %v", sheet.Household, time.Since(began), err)
			write(w, http.StatusInternalServerError, map[string]string{"error": "try again"})
			return
		}
		write(w, http.StatusCreated, map[string]int64{"id": id})
	}
}

func show(s *survey.Service) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		household, err := strconv.Atoi(mux.Vars(r)["household"])
		if err != nil {
			write(w, http.StatusNotFound, map[string]string{"error": "no such household"})
			return
		}
		n, err := s.Submitted(r.Context(), household)
		if err != nil {
			log.Print(err)
			write(w, http.StatusInternalServerError, map[string]string{"error": "try again"})
			return
		}
		write(w, http.StatusOK, map[string]int{"household": household, "sheets": n})
	}
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, largest)
		next.ServeHTTP(w, r)
	})
}

func recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				log.Printf("panic: %v", v)
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}
