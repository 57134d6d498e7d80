// Command glacier-huts reports which hut has beds, by asking three exchanges and
// taking what comes first.
package main

import (
	"net/http"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/glacier-huts/internal/exchange"
	"github.com/redline-go/redline/corpus/sick/glacier-huts/internal/huts"
	"github.com/redline-go/redline/corpus/sick/glacier-huts/internal/race"
)

func main() {
	log, err := zap.NewProduction(zap.WithCaller(false))
	if err != nil {
		panic(err)
	}
	defer func() { _ = log.Sync() }()
	first := race.First[exchange.Beds]
	if os.Getenv("FIXED") == "1" {
		first = race.Any[exchange.Beds]
	}
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
	var sources []huts.Source
	for _, name := range []string{"north", "south", "club"} {
		sources = append(sources, exchange.New(client, os.Getenv("BACKEND_URL"), name))
	}
	srv := http.Server{Addr: "127.0.0.1:23611", Handler: huts.Routes(huts.Finder{Sources: sources, First: first, Log: log})}
	if err := srv.ListenAndServe(); err != nil {
		log.Error("listen", zap.Error(err))
	}
}
