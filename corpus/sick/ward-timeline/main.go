// Command ward-timeline shows what happened to a patient, newest first.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/ward-timeline/chart"
	"github.com/redline-go/redline/corpus/sick/ward-timeline/rest"
)

func main() {
	archive := chart.NewArchive(40)
	view := chart.NewView(archive, chart.Stacked[chart.Event])
	if os.Getenv("FIXED") == "1" {
		view = chart.NewView(archive, chart.Reversed[chart.Event])
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:23416", rest.Engine(view)))
}
