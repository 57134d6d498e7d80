// Command tulip-auction shows the clocks of a flower auction. Each clock has a
// goroutine of its own and so has each buyer who watches one.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/signal"

	"github.com/redline-go/redline/corpus/healthy/tulip-auction/internal/clock"
	"github.com/redline-go/redline/corpus/healthy/tulip-auction/internal/hall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	house := clock.Open(ctx, 40)
	for buyer := range 2000 {
		go hall.Watch(ctx, house.Clock(buyer%40), hall.Buyer{No: buyer, Limit: 20 + buyer%70})
	}
	if err := http.ListenAndServe("127.0.0.1:23620", hall.Routes(house, slog.Default())); err != nil {
		slog.Error("listen", "err", err)
	}
}
