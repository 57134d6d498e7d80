// Command event-envelope turns batches of orders into the events of a bus.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/gorilla/mux"
	"github.com/rs/zerolog"
)

// Order is what shops send.
type Order struct {
	ID       string            `json:"id"`
	Customer string            `json:"customer"`
	Lines    []Line            `json:"lines"`
	Tags     map[string]string `json:"tags,omitempty"`
}

// Line is one article of an order.
type Line struct {
	SKU   string  `json:"sku"`
	Title string  `json:"title"`
	Count int     `json:"count"`
	Price float64 `json:"price"`
}

// Publisher wraps orders in envelopes.
type Publisher interface {
	Publish(orders []Order, at time.Time) ([]byte, error)
}

func batch(p Publisher, log zerolog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var orders []Order
		err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&orders)
		if err == nil && len(orders) == 0 {
			err = errors.New("no orders")
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, err := p.Publish(orders, time.Now().UTC())
		if err != nil {
			log.Error().Err(err).Int("orders", len(orders)).Msg("publish")
			http.Error(w, "publish", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(out)
	}
}

// sample is a catalogue order for load tests and previews.
func sample(n int) []Order {
	list := make([]Order, n)
	for i := range list {
		o := Order{ID: fmt.Sprint("o-", i), Customer: fmt.Sprint("c-", i%7), Tags: map[string]string{"shop": "de"}}
		for l := range 4 {
			o.Lines = append(o.Lines, Line{SKU: fmt.Sprint("sku-", i*l), Title: "Garden chair, oak", Count: l + 1, Price: 39.9})
		}
		list[i] = o
	}
	return list
}

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	var p Publisher = &enveloper{source: "shop", maximum: 1 << 20}
	if os.Getenv("FIXED") != "" {
		p = &typed{source: "shop", maximum: 1 << 20}
	}
	preview := sample(60)
	r := mux.NewRouter()
	r.HandleFunc("/batches", batch(p, log)).Methods(http.MethodPost)
	r.HandleFunc("/preview/{shop}", func(w http.ResponseWriter, r *http.Request) {
		out, err := p.Publish(preview, time.Now().UTC())
		if err != nil {
			http.Error(w, mux.Vars(r)["shop"], http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(out)
	}).Methods(http.MethodGet)
	r.HandleFunc("/alive", func(http.ResponseWriter, *http.Request) {})
	log.Fatal().Err(http.ListenAndServe("127.0.0.1:9208", r)).Send()
}
