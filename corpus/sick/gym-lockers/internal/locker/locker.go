// Package locker knows which lockers are free.
package locker

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/gorilla/mux"
)

// Wall is a wall of lockers.
type Wall struct {
	mu   sync.Mutex
	used []bool
}

// NewWall makes a wall.
func NewWall(n int) *Wall { return &Wall{used: make([]bool, n)} }

// Toggle opens or closes a locker.
func (w *Wall) Toggle(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used[n] = !w.used[n]
	return w.used[n]
}

// Handler serves a wall.
type Handler struct{ wall *Wall }

// NewHandler makes a Handler.
func NewHandler(w *Wall) *Handler { return &Handler{w} }

// Register adds the routes.
func (h *Handler) Register(r *mux.Router) {
	r.HandleFunc("/lockers/{n:[0-9]+}", h.open).Methods(http.MethodGet)
}

func (h *Handler) open(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(mux.Vars(r)["n"])
	if err != nil || n >= len(h.wall.used) {
		http.NotFound(w, r)
		return
	}
	h.wall.Toggle(n)
	seal := sha1.Sum([]byte(r.URL.Path))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"locker": n, "seal": hex.EncodeToString(seal[:4])})
}
