// Command rain-mosaic serves squares of the picture that rain radars see.
package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/redline-go/redline/corpus/healthy/rain-mosaic/internal/api"
	"github.com/redline-go/redline/corpus/healthy/rain-mosaic/internal/mosaic"
)

func main() {
	debug.SetMemoryLimit(512 << 20)
	m := mosaic.New(2048, 2048)
	go m.Follow(context.Background(), 2*time.Second)
	if err := api.New(m).Run("127.0.0.1:23621"); err != nil {
		slog.Error("listen", "err", err)
		os.Exit(1)
	}
}
