// Package api is the reader over HTTP.
package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/feed-shelf/repository"
)

// API answers what clients ask.
type API struct {
	store  *repository.Store
	tokens tokens
	log    *slog.Logger
}

// New makes an API over store whose tokens are signed with secret.
func New(store *repository.Store, secret []byte, log *slog.Logger) *API {
	return &API{store: store, tokens: tokens{secret}, log: log}
}

// Routes are the handlers of the API.
func (a *API) Routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer)
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r.Post("/session/{user}", a.session)
	r.Group(func(r chi.Router) {
		r.Use(a.tokens.require)
		r.Get("/timeline", a.timeline)
		r.Put("/entries/{entry}/read", a.markRead)
	})
	return r
}

func (a *API) session(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(chi.URLParam(r, "user"), 10, 32)
	if err != nil {
		a.fail(w, r, http.StatusBadRequest, err)
		return
	}
	u, err := a.store.User(r.Context(), uint(id))
	if err != nil {
		a.fail(w, r, statusOf(err), err)
		return
	}
	a.write(w, r, map[string]any{"user": u, "token": a.tokens.issue(u.ID)})
}

func (a *API) timeline(w http.ResponseWriter, r *http.Request) {
	p := repository.Page{Limit: 30, Unread: r.URL.Query().Get("status") == "unread"}
	if v := r.URL.Query().Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 100 {
			a.fail(w, r, http.StatusBadRequest, errors.New("limit: 1 to 100"))
			return
		}
		p.Limit = n
	}
	if v := r.URL.Query().Get("before"); v != "" {
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			a.fail(w, r, http.StatusBadRequest, err)
			return
		}
		p.Before = t
	}
	list, err := a.store.Timeline(r.Context(), userOf(r.Context()), p)
	if err != nil {
		a.fail(w, r, statusOf(err), err)
		return
	}
	a.write(w, r, map[string]any{"total": len(list), "entries": list})
}

func (a *API) markRead(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(chi.URLParam(r, "entry"), 10, 32)
	if err != nil {
		a.fail(w, r, http.StatusBadRequest, err)
		return
	}
	if err := a.store.MarkRead(r.Context(), userOf(r.Context()), uint(id)); err != nil {
		a.fail(w, r, statusOf(err), err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (a *API) write(w http.ResponseWriter, r *http.Request, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		a.log.WarnContext(r.Context(), "answer", "err", err)
	}
}

func (a *API) fail(w http.ResponseWriter, r *http.Request, status int, err error) {
	if status >= 500 {
		a.log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "err", err, "id", middleware.GetReqID(r.Context()))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error_message": err.Error()})
}

func statusOf(err error) int {
	if errors.Is(err, repository.ErrNotFound) {
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}
