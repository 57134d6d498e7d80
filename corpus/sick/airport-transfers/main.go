// Command airport-transfers quotes rides to the airport.
package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/redline-go/redline/corpus/sick/airport-transfers/cache"
	"github.com/redline-go/redline/corpus/sick/airport-transfers/httpapi"
	"github.com/redline-go/redline/corpus/sick/airport-transfers/quote"
)

func main() {
	tariff := quote.NewTariff(os.Getenv("BACKEND_URL"))
	key := quote.ByRequest
	if os.Getenv("FIXED") == "1" {
		key = quote.ByRoute
	}
	q := quote.NewQuoter(tariff, cache.New[string, quote.Zone](2000, time.Minute), key)
	if err := httpapi.Serve("127.0.0.1:23420", q); err != nil {
		slog.Error("serve", "err", err)
		os.Exit(1)
	}
}
