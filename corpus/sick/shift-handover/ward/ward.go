// Package ward is the HTTP interface of the notes.
package ward

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/julienschmidt/httprouter"

	"github.com/redline-go/redline/corpus/sick/shift-handover/notes"
)

const (
	beds    = 400
	longest = 8 << 10
)

// Ward takes and shows notes.
type Ward struct {
	store notes.Store
	now   func() time.Time
}

// New makes a ward over a store.
func New(s notes.Store) *Ward { return &Ward{s, time.Now} }

// Handler has all routes.
func (w *Ward) Handler() http.Handler {
	r := httprouter.New()
	r.PanicHandler = func(rw http.ResponseWriter, r *http.Request, v any) {
		slog.Error("panic", "path", r.URL.Path, "value", v)
		rw.WriteHeader(http.StatusInternalServerError)
	}
	r.GET("/healthz", func(rw http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		rw.WriteHeader(http.StatusNoContent)
	})
	r.POST("/notes", w.guard(w.create))
	r.GET("/notes/:id", w.guard(w.show))
	return r
}

type failure struct {
	status int
	text   string
}

func (f failure) Error() string { return f.text }

type action func(rw http.ResponseWriter, r *http.Request, p httprouter.Params) error

func (w *Ward) guard(do action) httprouter.Handle {
	return func(rw http.ResponseWriter, r *http.Request, p httprouter.Params) {
		err := do(rw, r, p)
		var known failure
		switch {
		case err == nil:
		case errors.As(err, &known):
			http.Error(rw, known.text, known.status)
		case errors.Is(err, notes.ErrUnknown):
			http.NotFound(rw, r)
		default:
			slog.Error("notes", "method", r.Method, "path", r.URL.Path, "err", err)
			http.Error(rw, "try again", http.StatusInternalServerError)
		}
	}
}

func (w *Ward) create(rw http.ResponseWriter, r *http.Request, _ httprouter.Params) error {
	var n notes.Note
	if err := json.NewDecoder(http.MaxBytesReader(rw, r.Body, longest)).Decode(&n); err != nil {
		return failure{http.StatusBadRequest, err.Error()}
	}
	if n.Bed < 1 || n.Bed > beds || n.Nurse == "" || n.Text == "" {
		return failure{http.StatusUnprocessableEntity, "bed, nurse and text are required"}
	}
	n.ID, n.At = uuid.NewString(), w.now().UTC()
	if err := w.store.Save(r.Context(), n); err != nil {
		return err
	}
	rw.Header().Set("Location", "/notes/"+n.ID)
	return answer(rw, http.StatusCreated, n)
}

func (w *Ward) show(rw http.ResponseWriter, r *http.Request, p httprouter.Params) error {
	n, err := w.store.Load(r.Context(), p.ByName("id"))
	if err != nil {
		return err
	}
	return answer(rw, http.StatusOK, n)
}

func answer(rw http.ResponseWriter, status int, v any) error {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	return json.NewEncoder(rw).Encode(v)
}
