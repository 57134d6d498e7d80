// Command tyre-scans checks tyres that garages scan.
package main

import (
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/redline-go/redline/corpus/sick/tyre-scans/routes"
	"github.com/redline-go/redline/corpus/sick/tyre-scans/terminal"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9964", "address")
	sessions := flag.Int("sessions", 3, "sessions with the registry")
	renew := flag.Int("renew", 500, "calls until a session is renewed")
	flag.Parse()
	if os.Getenv("FIXED") == "1" {
		*sessions = 64
	}
	bank := terminal.NewBank(os.Getenv("BACKEND_URL"), *sessions, *renew)
	app := routes.New(bank, "garage-1", "garage-2")
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-end
		bank.Close()
		_ = app.Shutdown()
	}()
	if err := app.Listen(*listen); err != nil {
		log.Fatal(err)
	}
}
