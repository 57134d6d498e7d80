// Command container-lookup answers where a container stands in the port.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gorilla/mux"
	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"

	"github.com/redline-go/redline/corpus/sick/container-lookup/query"
	"github.com/redline-go/redline/corpus/sick/container-lookup/yard"
)

type whereabouts struct {
	Container string      `json:"container"`
	Terminal  string      `json:"terminal"`
	Berth     string      `json:"berth,omitempty"`
	Moves     []yard.Move `json:"moves"`
	DwellDays float64     `json:"dwell_days"`
}

func locate(y *yard.Yard) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		number := strings.TrimSpace(mux.Vars(r)["number"])
		if !yard.Plausible(number) {
			http.Error(w, "not a container number", http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		moves, err := y.History(ctx, number)
		if errors.Is(err, yard.ErrUnknown) {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		if err == nil {
			var t yard.Terminal
			if t, err = y.Terminal(ctx, moves[0].TerminalID); err == nil {
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(whereabouts{moves[0].Container, t.Name, moves[0].Berth, moves, yard.Dwell(moves)})
				return
			}
		}
		log.Println("locate:", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
	}
}

func main() {
	db, err := sqlx.Connect("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(10)
	db.SetMaxIdleConns(10)
	if err := yard.Install(db); err != nil {
		log.Fatal(err)
	}
	match := query.Caseless
	if os.Getenv("FIXED") == "1" {
		match = query.Exact
	}
	r := mux.NewRouter()
	r.Use(func(next http.Handler) http.Handler { return http.TimeoutHandler(next, 8*time.Second, "late") })
	r.HandleFunc("/containers/{number}", locate(yard.New(db, match))).Methods(http.MethodGet)
	r.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	log.Fatal(http.ListenAndServe("127.0.0.1:21302", r))
}
