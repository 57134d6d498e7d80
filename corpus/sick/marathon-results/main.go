// Command marathon-results shows runners their places.
package main

import (
	"log/slog"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/marathon-results/race"
	"github.com/redline-go/redline/corpus/sick/marathon-results/server"
)

func main() {
	field := race.NewField(4000)
	var places race.Placer = race.Live{Field: field}
	if os.Getenv("FIXED") == "1" {
		places = race.NewFinal(field)
	}
	if err := http.ListenAndServe("127.0.0.1:23418", server.New(places)); err != nil {
		slog.Error("server", "err", err)
	}
}
