// Command parking-zones sells tickets for the parking zones of a city.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/redline-go/redline/corpus/sick/parking-zones/app"
	"github.com/redline-go/redline/corpus/sick/parking-zones/zones"
)

func main() {
	var source zones.Source = zones.Files{}
	if os.Getenv("FIXED") == "1" {
		atlas, err := zones.NewAtlas()
		if err != nil {
			log.Fatal(err)
		}
		source = atlas
	}
	srv := &http.Server{Addr: "127.0.0.1:9972", Handler: app.New(source, "warden")}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
