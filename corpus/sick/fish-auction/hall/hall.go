// Package hall is the HTTP face of the auction.
package hall

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/fish-auction/lots"
)

// Lots is what the hall asks its store for.
type Lots interface {
	Get(id int) (lots.Lot, bool)
	List() []lots.Lot
	Update(id int, change func(*lots.Lot) error) error
}

// Hall answers buyers.
type Hall struct {
	lots Lots
	log  *slog.Logger
	now  func() time.Time
}

// New makes a hall over a store.
func New(l Lots, log *slog.Logger) *Hall { return &Hall{lots: l, log: log, now: time.Now} }

// Routes are all routes of the hall.
func (h *Hall) Routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer, h.slow(time.Second))
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r.Route("/lots", func(r chi.Router) {
		r.Get("/", h.list)
		r.Get("/{id}", h.one)
		r.Post("/{id}/bids", h.bid)
	})
	return r
}

type line struct {
	ID      int     `json:"id"`
	Species string  `json:"species"`
	Vessel  string  `json:"vessel"`
	Kilos   float64 `json:"kilos"`
	Best    int     `json:"best"`
	Gear    string  `json:"gear"`
}

type query struct {
	species, port string
	minKilos      float64
	limit         int
}

func (q query) match(l *lots.Lot) bool {
	return (q.species == "" || l.Species == q.species) && (q.port == "" || l.Port == q.port) && l.Kilos() >= q.minKilos
}

func parse(r *http.Request) (query, error) {
	v := r.URL.Query()
	q := query{species: v.Get("species"), port: v.Get("port"), limit: 15}
	var err error
	if s := v.Get("limit"); s != "" {
		if q.limit, err = strconv.Atoi(s); err != nil || q.limit < 1 || q.limit > 100 {
			return q, errors.New("limit: 1 to 100")
		}
	}
	if s := v.Get("min_kilos"); s != "" {
		if q.minKilos, err = strconv.ParseFloat(s, 64); err != nil {
			return q, errors.New("min_kilos: a number")
		}
	}
	return q, nil
}

func (h *Hall) list(w http.ResponseWriter, r *http.Request) {
	q, err := parse(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found := h.search(q)
	h.answer(w, http.StatusOK, map[string]any{"lots": found, "count": len(found)})
}

// search returns the lots that bring the most, best first.
func (h *Hall) search(q query) []line {
	found := make([]line, 0, q.limit)
	for _, l := range h.lots.List() {
		if !q.match(&l) {
			continue
		}
		found = append(found, line{l.ID, l.Species, l.Vessel, l.Kilos(), l.Best(), l.Marks["gear"]})
	}
	slices.SortFunc(found, func(a, b line) int { return b.Best - a.Best })
	return found[:min(len(found), q.limit)]
}

func (h *Hall) one(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(chi.URLParam(r, "id"))
	if err != nil {
		http.Error(w, "id: a number", http.StatusBadRequest)
		return
	}
	l, ok := h.lots.Get(id)
	if !ok {
		http.NotFound(w, r)
		return
	}
	h.answer(w, http.StatusOK, l)
}

func (h *Hall) bid(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(chi.URLParam(r, "id"))
	if err != nil {
		http.Error(w, "id: a number", http.StatusBadRequest)
		return
	}
	var b lots.Bid
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&b); err != nil || b.Buyer == "" {
		http.Error(w, "buyer and cents are required", http.StatusBadRequest)
		return
	}
	b.At = h.now()
	switch err := h.lots.Update(id, func(l *lots.Lot) error { return l.Offer(b) }); {
	case errors.Is(err, lots.ErrUnknown):
		http.NotFound(w, r)
	case errors.Is(err, lots.ErrTooLow):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		h.answer(w, http.StatusCreated, b)
	}
}

func (h *Hall) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		h.log.Warn("answer", "err", err)
	}
}

func (h *Hall) slow(limit time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began := h.now()
			next.ServeHTTP(w, r)
			if took := h.now().Sub(began); took > limit {
				h.log.Warn("slow", "id", middleware.GetReqID(r.Context()), "path", r.URL.Path, "took", took)
			}
		})
	}
}
