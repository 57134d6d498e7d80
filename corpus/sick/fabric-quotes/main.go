// Command fabric-quotes prices fabric by the metre, in the currency that a customer pays in.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/redline-go/redline/corpus/sick/fabric-quotes/cloth"
	"github.com/redline-go/redline/corpus/sick/fabric-quotes/memo"
)

// tariffs remembers tariffs, which are the same for everybody who asks for the same.
type tariffs struct {
	seen *memo.Cache[cloth.Spec, cloth.Tariff]
	flat bool
}

func (t tariffs) of(s cloth.Spec) (cloth.Tariff, error) {
	if t.flat {
		s.Currency = cloth.Shared(s.Currency)
	}
	return t.seen.Get(s, cloth.Work)
}

type quote struct {
	Fabric   string  `json:"fabric"`
	Metres   float64 `json:"metres"`
	Price    float64 `json:"price"`
	Currency string  `json:"currency"`
	Step     int     `json:"step"`
}

func (t tariffs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	currency, err := cloth.ParseCurrency(q.Get("currency"))
	width, err2 := strconv.Atoi(q.Get("width"))
	metres, err3 := strconv.ParseFloat(q.Get("metres"), 64)
	if err := errors.Join(err, err2, err3); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	tariff, err := t.of(cloth.Spec{Fabric: r.PathValue("fabric"), Width: width, Currency: currency})
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	step, price := tariff.For(metres)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(quote{r.PathValue("fabric"), metres, price, currency.Code, step})
}

func main() {
	seen, err := memo.New[cloth.Spec, cloth.Tariff](2048)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /fabrics/{fabric}/quote", tariffs{seen, os.Getenv("FIXED") == "1"})
	mux.HandleFunc("GET /cache", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(seen.Stats()) })
	log.Fatal(http.ListenAndServe("127.0.0.1:21313", mux))
}
