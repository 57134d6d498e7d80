package handlers

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/corpus/sick/fleet-registry/services"
)

type VehicleHandler struct{ service services.VehicleService }

func NewVehicleHandler(s services.VehicleService) *VehicleHandler { return &VehicleHandler{service: s} }

func (h *VehicleHandler) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /vehicles/{id}", h.get)
	mux.HandleFunc("GET /plates/{plate}", h.byPlate)
}

func (h *VehicleHandler) get(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	v, err := h.service.Get(r.Context(), id)
	reply(w, v, err)
}

func (h *VehicleHandler) byPlate(w http.ResponseWriter, r *http.Request) {
	v, err := h.service.FindByPlate(r.Context(), r.PathValue("plate"))
	reply(w, v, err)
}

func reply(w http.ResponseWriter, v any, err error) {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		http.Error(w, "not found", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}
