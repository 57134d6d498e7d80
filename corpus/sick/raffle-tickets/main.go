// Command raffle-tickets draws tickets of twelve digits.
package main

import (
	"crypto/rand"
	"log"
	"math/big"
	"net/http"

	"github.com/go-chi/chi/v5"
)

var ten = big.NewInt(10)

func draw(digits int) ([]byte, error) {
	ticket := make([]byte, digits)
	for i := range ticket {
		d, err := rand.Int(rand.Reader, ten)
		if err != nil {
			return nil, err
		}
		ticket[i] = '0' + byte(d.Int64())
	}
	return ticket, nil
}

func main() {
	r := chi.NewRouter()
	r.Get("/draw", func(w http.ResponseWriter, _ *http.Request) {
		for range 20 {
			t, err := draw(12)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Write(append(t, 10))
		}
	})
	r.Get("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9713", r))
}
