// Package httpapi has the routes.
package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gorilla/mux"

	"github.com/redline-go/redline/corpus/sick/spice-blends/internal/kitchen"
)

// Blender proposes blends.
type Blender interface {
	Blends(spice, heat int) []kitchen.Blend
}

// Routes returns the routes.
func Routes(b Blender) http.Handler {
	r := mux.NewRouter()
	r.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	r.HandleFunc("/spices/{spice:[0-9]+}/blends", func(w http.ResponseWriter, r *http.Request) {
		spice, err := strconv.Atoi(mux.Vars(r)["spice"])
		if err != nil {
			http.Error(w, "spice", http.StatusBadRequest)
			return
		}
		heat, err := strconv.Atoi(r.FormValue("heat"))
		if err != nil || heat < 0 || heat > 30 {
			http.Error(w, "heat: 0 to 30", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(b.Blends(spice, heat))
	}).Methods(http.MethodGet)
	return r
}
