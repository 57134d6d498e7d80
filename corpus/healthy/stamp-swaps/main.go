// Command stamp-swaps values a swap of stamps with two dealers.
package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/redline-go/redline/corpus/healthy/stamp-swaps/internal/api"
	"github.com/redline-go/redline/corpus/healthy/stamp-swaps/internal/dealer"
	"github.com/redline-go/redline/corpus/healthy/stamp-swaps/internal/swap"
)

func main() {
	client := dealer.New(os.Getenv("BACKEND_URL"), dealer.Timeout(time.Second), dealer.AtOnce(24))
	if err := api.New(swap.Desk{Dealers: client, Names: []string{"west", "east"}}).Start("127.0.0.1:23622"); err != nil {
		slog.Error("listen", "err", err)
		os.Exit(1)
	}
}
