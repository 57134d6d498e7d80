// Command survey-answers takes filled-in questionnaires.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redline-go/redline/corpus/sick/survey-answers/rest"
	"github.com/redline-go/redline/corpus/sick/survey-answers/survey"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	repo, err := survey.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	service := survey.NewService(repo, survey.Household())
	srv := &http.Server{
		Addr:              "127.0.0.1:9748",
		Handler:           rest.Handler(service),
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      15 * time.Second,
	}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Print(err)
	}
	if err := repo.Close(); err != nil {
		log.Print(err)
	}
}
