// Command quarry-rates quotes what a load of stone costs today.
package main

import (
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/redline-go/redline/corpus/sick/quarry-rates/internal/market"
	"github.com/redline-go/redline/corpus/sick/quarry-rates/internal/quotes"
	"github.com/redline-go/redline/corpus/sick/quarry-rates/internal/rates"
)

func main() {
	m := market.New(os.Getenv("BACKEND_URL"), 2*time.Second)
	var book quotes.Rates = rates.NewBook(m, 150*time.Millisecond)
	if os.Getenv("FIXED") == "1" {
		book = rates.NewShelf(m, 150*time.Millisecond)
	}
	if err := http.ListenAndServe("127.0.0.1:23608", quotes.Routes(quotes.Desk{Rates: book, Fee: 4.5})); err != nil {
		slog.Error("listen", "err", err)
		os.Exit(1)
	}
}
