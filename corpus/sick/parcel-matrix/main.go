// Command parcel-matrix quotes the postage of a sender's whole day.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"strconv"

	"github.com/gorilla/mux"
)

// Parcel is one item of a sender's day.
type Parcel struct {
	Zone   uint8
	Grams  uint32
	Volume uint32 // cubic centimetres
}

// Quote is what a sender pays.
type Quote struct {
	Sender  string   `json:"sender"`
	Parcels int      `json:"parcels"`
	Cents   int64    `json:"cents"`
	ByZone  [8]int64 `json:"by_zone"`
}

type depot interface {
	Today(sender int) []Parcel
}

// memory is a depot with the parcels of a few senders.
type memory [][]Parcel

func (m memory) Today(sender int) []Parcel { return m[sender%len(m)] }

func fill(senders, parcels int) memory {
	m := make(memory, senders)
	seed := uint32(7)
	for s := range m {
		m[s] = make([]Parcel, parcels)
		for i := range m[s] {
			seed = seed*1664525 + 1013904223
			m[s][i] = Parcel{Zone: uint8(seed >> 29), Grams: 50 + seed%20000, Volume: 200 + seed>>12%60000}
		}
	}
	return m
}

func main() {
	var d depot = fill(50, 2500)
	t := NewTariff()
	r := mux.NewRouter()
	r.HandleFunc("/senders/{sender:[0-9]+}/quote", func(w http.ResponseWriter, req *http.Request) {
		sender, err := strconv.Atoi(mux.Vars(req)["sender"])
		if err != nil {
			http.NotFound(w, req)
			return
		}
		q := t.Quote(d.Today(sender))
		q.Sender = mux.Vars(req)["sender"]
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(q)
	}).Methods(http.MethodGet)
	r.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	log.Fatal(http.ListenAndServe("127.0.0.1:9217", r))
}
