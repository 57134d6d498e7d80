// Command cruise-cabins asks cruise lines for free cabins, and lists the cheapest.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/cruise-cabins/booking"
	"github.com/redline-go/redline/corpus/sick/cruise-cabins/lines"
)

func main() {
	log := logrus.New()
	log.SetLevel(logrus.WarnLevel)
	base := os.Getenv("BACKEND_URL")
	if base == "" {
		log.Fatal("BACKEND_URL is required")
	}
	offices := []lines.Office{
		{Code: "AUR", Name: "Aurora", Base: base + "/aurora", Patience: 900 * time.Millisecond},
		{Code: "BAL", Name: "Baltica", Base: base + "/baltica", Patience: 700 * time.Millisecond},
		{Code: "COR", Name: "Corinthia", Base: base + "/corinthia", Patience: 900 * time.Millisecond},
		{Code: "DEL", Name: "Delphi", Base: base + "/delphi", Patience: 1200 * time.Millisecond},
	}
	gin.SetMode(gin.ReleaseMode)
	srv := &http.Server{
		Addr:              "127.0.0.1:9745",
		Handler:           booking.Router(lines.NewFleet(offices), log),
		ReadHeaderTimeout: 5 * time.Second,
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
