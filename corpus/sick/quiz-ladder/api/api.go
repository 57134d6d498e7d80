// Package api serves ranks.
package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/redline-go/redline/corpus/sick/quiz-ladder/ladder"
)

type fallible func(w http.ResponseWriter, r *http.Request) error

type api struct {
	keeper *ladder.Keeper
	log    *slog.Logger
}

// New makes the routes.
func New(keeper *ladder.Keeper, log *slog.Logger) http.Handler {
	a := &api{keeper, log}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /leagues/{league}/players/{player}/rank", a.wrap(a.rank))
	mux.HandleFunc("POST /leagues/{league}/players/{player}/answers", a.wrap(a.answer))
	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return mux
}

func (a *api) wrap(f fallible) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := f(w, r)
		switch {
		case err == nil:
		case errors.Is(err, ladder.ErrUnknown):
			http.NotFound(w, r)
		case errors.Is(err, strconv.ErrSyntax), errors.Is(err, strconv.ErrRange):
			http.Error(w, "a number is required", http.StatusBadRequest)
		default:
			a.log.ErrorContext(r.Context(), "request", "path", r.URL.Path, "err", err)
			http.Error(w, "internal error", http.StatusInternalServerError)
		}
	}
}

func who(r *http.Request) (league, player int, err error) {
	if league, err = strconv.Atoi(r.PathValue("league")); err != nil {
		return 0, 0, err
	}
	player, err = strconv.Atoi(r.PathValue("player"))
	return league, player, err
}

func (a *api) rank(w http.ResponseWriter, r *http.Request) error {
	league, player, err := who(r)
	if err != nil {
		return err
	}
	rank, err := a.keeper.Rank(league, player)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(rank)
}

func (a *api) answer(w http.ResponseWriter, r *http.Request) error {
	league, player, err := who(r)
	if err != nil {
		return err
	}
	difficulty, err := strconv.Atoi(r.FormValue("difficulty"))
	if err != nil {
		return err
	}
	points, err := a.keeper.Answered(league, player, r.FormValue("right") == "yes", max(1, min(difficulty, 10)))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]int64{"points": points})
}
