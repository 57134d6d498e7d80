// Command product-api prices a small basket. JSON in, JSON out.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"sync/atomic"
)

type line struct {
	ID  int `json:"id"`
	Qty int `json:"qty"`
}

type query struct {
	SKU      string `json:"sku"`
	Quantity int    `json:"quantity"`
	Country  string `json:"country"`
	Coupon   string `json:"coupon"`
	Lines    []line `json:"lines"`
}

type quote struct {
	SKU   string  `json:"sku"`
	Net   float64 `json:"net"`
	Tax   float64 `json:"tax"`
	Total float64 `json:"total"`
	Lines []line  `json:"lines"`
	Serve int64   `json:"serve"`
}

type desk struct{ served atomic.Int64 }

func (d *desk) price(w http.ResponseWriter, r *http.Request) {
	var q query
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	net := 19.9 * float64(q.Quantity)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(quote{q.SKU, net, net * 0.21, net * 1.21, q.Lines, d.served.Add(1)})
}

func main() {
	d := &desk{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /price", d.price)
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9728", mux))
}
