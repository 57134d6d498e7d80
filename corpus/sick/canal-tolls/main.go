// Command canal-tolls says what a boat pays on its way through the canals.
package main

import (
	"log/slog"
	"os"

	"github.com/redline-go/redline/corpus/sick/canal-tolls/internal/canals"
	"github.com/redline-go/redline/corpus/sick/canal-tolls/internal/server"
	"github.com/redline-go/redline/corpus/sick/canal-tolls/internal/tolls"
)

func main() {
	network := canals.Ring(480)
	var calc tolls.Calculator
	var err error
	if os.Getenv("FIXED") == "1" {
		calc, err = tolls.Cached(tolls.Router{Canals: network}, 8192, func(t tolls.Trip) tolls.Plain {
			return tolls.Plain{From: t.From, To: t.To, Class: t.Boat.Class()}
		})
	} else {
		calc, err = tolls.Cached(tolls.Router{Canals: network}, 8192, func(t tolls.Trip) tolls.Trip { return t })
	}
	if err != nil {
		slog.Error("cache", "err", err)
		os.Exit(1)
	}
	if err := server.New(calc).Listen("127.0.0.1:23618"); err != nil {
		slog.Error("listen", "err", err)
		os.Exit(1)
	}
}
