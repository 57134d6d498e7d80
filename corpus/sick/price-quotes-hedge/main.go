// Command price-quotes-hedge asks two markets for a quote and takes the answer
// that comes first. The other one's goroutine then hands its answer to a channel
// that nobody reads any more, and stays there for good.
package main

import (
	"context"
	"log"
	"net/http"
	"strconv"

	"github.com/gorilla/mux"
)

type quote struct{ cents int64 }

type market struct{ spread map[string]int64 }

func (m market) ask(symbol string) quote {
	cents := m.spread[symbol]
	for i := range int64(200) {
		cents += i % 3
	}
	return quote{cents}
}

// first returns whichever market answers before the others.
func first(ctx context.Context, symbol string, markets ...market) (quote, bool) {
	answers := make(chan quote)
	for _, m := range markets {
		go func() { answers <- m.ask(symbol) }()
	}
	select {
	case q := <-answers:
		return q, true
	case <-ctx.Done():
		return quote{}, false
	}
}

func main() {
	bern := market{map[string]int64{"acme": 1290, "bolt": 455, "cork": 78}}
	graz := market{map[string]int64{"acme": 1291, "bolt": 452, "cork": 79}}
	r := mux.NewRouter()
	r.HandleFunc("/quotes/{symbol}", func(w http.ResponseWriter, r *http.Request) {
		q, ok := first(r.Context(), mux.Vars(r)["symbol"], bern, graz)
		if !ok {
			return
		}
		_, _ = w.Write(strconv.AppendInt(nil, q.cents, 10))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9421", r))
}
