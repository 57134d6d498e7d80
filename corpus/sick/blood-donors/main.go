// Command blood-donors books donations, and answers who may donate again.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/redline-go/redline/corpus/sick/blood-donors/ledger"
)

type server struct{ ledger *ledger.Ledger }

func (s *server) donate(w http.ResponseWriter, r *http.Request) {
	donor, err := strconv.Atoi(chi.URLParam(r, "donor"))
	var in struct {
		Millilitres int    `json:"ml"`
		Where       string `json:"where"`
	}
	if err := errors.Join(err, json.NewDecoder(r.Body).Decode(&in)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	receipt, err := s.ledger.Donate(r.Context(), donor, in.Millilitres, in.Where)
	if err != nil {
		log.Println("donate:", err)
		http.Error(w, "not booked", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(receipt)
}

func (s *server) donor(w http.ResponseWriter, r *http.Request) {
	donor, _ := strconv.Atoi(chi.URLParam(r, "donor"))
	d, err := s.ledger.Donor(r.Context(), donor)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(d)
}

func main() {
	dir, err := os.MkdirTemp("", "blood-donors-")
	if err != nil {
		log.Fatal(err)
	}
	l, err := ledger.Open(filepath.Join(dir, "donors.db"), os.Getenv("FIXED") == "1")
	if err != nil {
		log.Fatal(err)
	}
	s := &server{l}
	r := chi.NewRouter()
	r.Post("/donors/{donor}/donations", s.donate)
	r.Get("/donors/{donor}", s.donor)
	r.Get("/up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:21318", r))
}
