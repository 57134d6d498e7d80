// Package transport is the HTTP side.
package transport

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/redline-go/redline/corpus/sick/villa-feed/internal/domain"
	"github.com/redline-go/redline/corpus/sick/villa-feed/internal/dto"
	"github.com/redline-go/redline/corpus/sick/villa-feed/internal/mapping"
)

// Criteria is what a portal asks for.
type Criteria struct {
	Beds  int
	Cents int64
}

func (c Criteria) fits(v *dto.Villa) bool {
	return v.Beds >= c.Beds && (c.Cents == 0 || v.Cents <= c.Cents)
}

// Handler serves a catalogue.
type Handler struct {
	*http.ServeMux
	villas *domain.Catalogue
	mapper mapping.Mapper[domain.Villa, dto.Villa]
}

// NewHandler makes a Handler.
func NewHandler(c *domain.Catalogue, m mapping.Mapper[domain.Villa, dto.Villa]) *Handler {
	h := &Handler{http.NewServeMux(), c, m}
	h.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) {})
	h.HandleFunc("GET /regions/{region}/offers", h.offers)
	return h
}

func (h *Handler) offers(w http.ResponseWriter, r *http.Request) {
	region, err := strconv.Atoi(r.PathValue("region"))
	if err != nil {
		http.Error(w, "region", http.StatusBadRequest)
		return
	}
	beds, _ := strconv.Atoi(r.FormValue("beds"))
	cents, _ := strconv.ParseInt(r.FormValue("max"), 10, 64)
	found := h.search(region, Criteria{beds, cents}, 8)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(found)
}

func (h *Handler) search(region int, c Criteria, n int) []dto.Villa {
	found := make([]dto.Villa, 0, n)
	villas := h.villas.Region(region)
	for i := range villas {
		v := h.mapper.Map(&villas[i])
		if !c.fits(&v) {
			continue
		}
		if len(found) == n { // the cheapest n
			dearest := 0
			for k := range found {
				if found[k].Cents > found[dearest].Cents {
					dearest = k
				}
			}
			if v.Cents < found[dearest].Cents {
				found[dearest] = v
			}
			continue
		}
		found = append(found, v)
	}
	return found
}
