// Command frost-map shows wine growers where frost is to be expected.
package main

import (
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/redline-go/redline/corpus/sick/frost-map/cells"
	"github.com/redline-go/redline/corpus/sick/frost-map/field"
	"github.com/redline-go/redline/corpus/sick/frost-map/web"
)

func main() {
	var f cells.Filler = cells.Fine{}
	if os.Getenv("FIXED") == "1" {
		f = cells.Coarse{}
	}
	app := web.New(field.NewValley(24), f)
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	go func() { <-end; _ = app.Shutdown() }()
	if err := app.Listen("127.0.0.1:9980"); err != nil {
		log.Fatal(err)
	}
}
