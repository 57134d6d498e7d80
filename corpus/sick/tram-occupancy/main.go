// Command tram-occupancy reports how full trams are.
package main

import (
	"log/slog"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/tram-occupancy/internal/board"
	"github.com/redline-go/redline/corpus/sick/tram-occupancy/internal/upstream"
	"github.com/redline-go/redline/corpus/sick/tram-occupancy/internal/web"
)

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	vehicles := upstream.New(os.Getenv("BACKEND_URL"))
	b := board.New(vehicles, 300)
	var w web.Board = b
	if os.Getenv("FIXED") == "1" {
		w = board.Checked{Board: b}
	}
	if err := http.ListenAndServe("127.0.0.1:23413", web.Handler(w)); err != nil {
		slog.Error("listen", "err", err)
	}
}
