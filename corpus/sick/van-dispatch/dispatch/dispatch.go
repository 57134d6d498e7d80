// Package dispatch assigns jobs to vans.
package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/corpus/sick/van-dispatch/db"
)

// ErrNoVan is returned where no van of the depot can carry the job.
var ErrNoVan = errors.New("dispatch: no van can carry it")

// Router knows the way from a depot to an address.
type Router interface {
	Route(ctx context.Context, depot int32, address string) (string, error)
}

// Dispatcher assigns jobs.
type Dispatcher struct {
	pool    *pgxpool.Pool
	queries *db.Queries
	router  Router
}

// New makes a dispatcher.
func New(pool *pgxpool.Pool, r Router) *Dispatcher {
	return &Dispatcher{pool, db.New(pool), r}
}

// Assign gives a job to the smallest van of its depot that can carry it.
func (d *Dispatcher) Assign(ctx context.Context, job int32) (a db.Assignment, err error) {
	err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		q := d.queries.WithTx(tx)
		j, err := q.GetJob(ctx, job)
		if err != nil {
			return err
		}
		van, err := q.SmallestVan(ctx, db.SmallestVanParams{DepotID: j.DepotID, Kilos: j.Kilos})
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoVan
		}
		if err != nil {
			return err
		}
		route, err := d.router.Route(ctx, j.DepotID, j.Address)
		if err != nil {
			return err
		}
		a, err = q.CreateAssignment(ctx, db.CreateAssignmentParams{JobID: j.ID, VanID: van.ID, Route: route})
		return err
	})
	return a, err
}

// Routes are the HTTP routes.
func (d *Dispatcher) Routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RealIP, middleware.RequestID, middleware.Recoverer, middleware.Timeout(5*time.Second))
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r.Route("/jobs/{id}/assignment", func(r chi.Router) {
		r.Post("/", d.handle(http.StatusCreated, d.Assign))
		r.Get("/", d.handle(http.StatusOK, d.queries.LastAssignment))
	})
	return r
}

type assignment struct {
	ID    int64     `json:"id"`
	Job   int32     `json:"job"`
	Van   int32     `json:"van"`
	Route string    `json:"route"`
	At    time.Time `json:"at"`
}

func (d *Dispatcher) handle(status int, do func(context.Context, int32) (db.Assignment, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 32)
		if err != nil {
			http.Error(w, "id: a number", http.StatusBadRequest)
			return
		}
		a, err := do(r.Context(), int32(id))
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			http.NotFound(w, r)
			return
		case errors.Is(err, ErrNoVan):
			http.Error(w, err.Error(), http.StatusConflict)
			return
		case err != nil:
			slog.ErrorContext(r.Context(), "job", "id", id, "err", err)
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(assignment{a.ID, a.JobID, a.VanID, a.Route, a.AssignedAt})
	}
}
