// Command clinic-visits serves the diaries of a veterinary clinic.
package main

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/clinic-visits/handler"
	"github.com/redline-go/redline/corpus/sick/clinic-visits/repository"
	"github.com/redline-go/redline/corpus/sick/clinic-visits/service"
)

func main() {
	log := logrus.New()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	db, err := sqlx.ConnectContext(ctx, "postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.WithError(err).Fatal("connect")
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	if err := repository.Migrate(ctx, db); err != nil {
		log.Fatal(err)
	}
	diary := &service.Diary{
		Visits:     repository.Visits{DB: db},
		Animals:    repository.Animals{DB: db},
		Treatments: repository.Treatments{DB: db},
		Together:   os.Getenv("FIXED") == "1",
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:9807", handler.Router(diary, log)))
}
