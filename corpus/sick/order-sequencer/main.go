// Command order-sequencer numbers and prices orders. All orders pass through one
// goroutine that owns the book, which prices each order itself before it takes
// the next.
package main

import (
	"encoding/json"
	"log"
	"net/http"

	"github.com/gorilla/mux"
)

type ticket struct {
	Number uint64  `json:"number"`
	Price  float64 `json:"price"`
}

type submission struct {
	side  string
	reply chan ticket
}

type sequencer struct {
	inbox  chan submission
	levels []float64
	next   uint64
}

// price walks the book until the order's price settles.
func (s *sequencer) price(side string) float64 {
	sign, total := 1.0, 0.0
	if side == "sell" {
		sign = -1
	}
	for round := range 260 {
		for i, level := range s.levels {
			total += sign * level / float64(i+round+1)
		}
	}
	return total
}

func (s *sequencer) run() {
	for order := range s.inbox {
		s.next++
		order.reply <- ticket{s.next, s.price(order.side)}
	}
}

func (s *sequencer) submit(side string) ticket {
	reply := make(chan ticket, 1)
	s.inbox <- submission{side, reply}
	return <-reply
}

func main() {
	s := &sequencer{inbox: make(chan submission, 16), levels: make([]float64, 1500)}
	for i := range s.levels {
		s.levels[i] = 100 + float64(i)/8
	}
	go s.run()
	r := mux.NewRouter()
	r.HandleFunc("/orders/{side:buy|sell}", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(s.submit(mux.Vars(r)["side"]))
	}).Methods(http.MethodPost, http.MethodGet)
	log.Fatal(http.ListenAndServe("127.0.0.1:9406", r))
}
