// Package web answers the readers at stations.
package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-playground/validator/v10"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/rail-passes/fares"
)

type question struct {
	Pass  string `json:"pass" validate:"required,alphanum,len=8"`
	Class int    `json:"class" validate:"oneof=1 2"`
	Days  int    `json:"days" validate:"min=1,max=366"`
	Zones []int  `json:"zones" validate:"max=40,dive,min=0,max=99"`
}

// Handler answers.
type Handler struct {
	tariff *fares.Tariff
	valid  *validator.Validate
	log    *logrus.Logger
}

// Routes makes the handler.
func Routes(t *fares.Tariff, log *logrus.Logger) http.Handler {
	h := &Handler{tariff: t, valid: validator.New(validator.WithRequiredStructEnabled()), log: log}
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.RealIP, h.access, middleware.Recoverer)
	r.Get("/alive", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	r.Post("/journeys/{from}-{to}/price", h.price)
	return r
}

func (h *Handler) access(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		start := time.Now()
		next.ServeHTTP(ww, r)
		if ww.Status() >= 500 {
			h.log.WithFields(logrus.Fields{"path": r.URL.Path, "status": ww.Status(), "took": time.Since(start),
				"id": middleware.GetReqID(r.Context())}).Error("request failed")
		}
	})
}

func (h *Handler) price(w http.ResponseWriter, r *http.Request) {
	from, err1 := strconv.Atoi(chi.URLParam(r, "from"))
	to, err2 := strconv.Atoi(chi.URLParam(r, "to"))
	if err := errors.Join(err1, err2); err != nil {
		h.refuse(w, http.StatusBadRequest, err)
		return
	}
	var q question
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		h.refuse(w, http.StatusBadRequest, err)
		return
	}
	if err := h.valid.Struct(&q); err != nil {
		h.refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	p, err := h.tariff.Quote(fares.Pass{ID: strings.ToUpper(q.Pass), Class: q.Class, Days: q.Days, Zones: q.Zones}, from, to)
	if err != nil {
		h.refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(p)
}

func (h *Handler) refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}
