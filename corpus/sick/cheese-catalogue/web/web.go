// Package web serves the catalogue.
package web

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gorilla/mux"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/cheese-catalogue/store"
)

type pages struct {
	products *store.Products
	log      *logrus.Logger
}

// Router returns the routes.
func Router(p *store.Products, log *logrus.Logger) http.Handler {
	h := &pages{p, log}
	r := mux.NewRouter()
	r.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {}).Methods(http.MethodGet)
	r.HandleFunc("/new/{milk:[a-z]+}", h.newest).Methods(http.MethodGet)
	r.HandleFunc("/makers/{maker:[0-9]+}/products", h.maker).Methods(http.MethodGet)
	return r
}

func (h *pages) newest(w http.ResponseWriter, r *http.Request) {
	list, err := h.products.Newest(r.Context(), mux.Vars(r)["milk"], 20)
	h.answer(w, list, err)
}

func (h *pages) maker(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(mux.Vars(r)["maker"])
	if err != nil {
		http.Error(w, "maker", http.StatusBadRequest)
		return
	}
	list, err := h.products.OfMaker(r.Context(), id)
	h.answer(w, list, err)
}

func (h *pages) answer(w http.ResponseWriter, list []store.Product, err error) {
	if err != nil {
		h.log.WithError(err).Error("query")
		http.Error(w, "sorry", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}
