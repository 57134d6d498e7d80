// Command pollen-map serves how much pollen is in the air, place by place.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/redline-go/redline/corpus/sick/pollen-map/grid"
	"github.com/redline-go/redline/corpus/sick/pollen-map/memory"
)

func main() {
	if os.Getenv("FIXED") != "1" {
		memory.Frugal()
	}
	g := grid.New(300)
	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Get("/ready", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r.Get("/pollen/{kind}/near/{x}/{y}", func(w http.ResponseWriter, r *http.Request) {
		x, err1 := strconv.Atoi(chi.URLParam(r, "x"))
		y, err2 := strconv.Atoi(chi.URLParam(r, "y"))
		if err1 != nil || err2 != nil {
			http.Error(w, "x and y are numbers", http.StatusBadRequest)
			return
		}
		report, ok := g.Near(chi.URLParam(r, "kind"), x, y, 6)
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(report)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:21316", r))
}
