// Command observatory-log keeps what the instruments of an observatory have seen
// tonight, and shows it to visitors.
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

	"github.com/redline-go/redline/corpus/healthy/observatory-log/desk"
	"github.com/redline-go/redline/corpus/healthy/observatory-log/night"
)

func main() {
	log := logrus.New()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	journal := night.NewJournal(160)
	archive, err := night.NewArchive(os.TempDir(), journal, 250*time.Millisecond)
	if err != nil {
		log.WithError(err).Fatal("archive")
	}
	go archive.Keep(ctx, func(err error) { log.WithError(err).Warn("archive") })

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery(), desk.Once())
	desk.Routes(r, journal)
	srv := &http.Server{Addr: "127.0.0.1:9351", Handler: r}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.WithError(err).Error("serve")
	}
	archive.Close()
}
