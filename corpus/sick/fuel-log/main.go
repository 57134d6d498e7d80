// Command fuel-log serves the fuel receipts of a fleet.
package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/sick/fuel-log/store"
)

type receipts interface {
	Recent(ctx context.Context, vehicle string, since time.Time) ([]store.Receipt, error)
	Get(ctx context.Context, id int64) (store.Receipt, error)
}

func recent(s receipts) echo.HandlerFunc {
	return func(c echo.Context) error {
		list, err := s.Recent(c.Request().Context(), c.Param("vehicle"), time.Unix(1700000000, 0))
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, echo.Map{"vehicle": c.Param("vehicle"), "receipts": list})
	}
}

func get(s receipts) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := strconv.ParseInt(c.Param("id"), 10, 64)
		if err != nil {
			return echo.ErrBadRequest
		}
		switch r, err := s.Get(c.Request().Context(), id); {
		case errors.Is(err, sql.ErrNoRows):
			return echo.ErrNotFound
		case err != nil:
			return err
		default:
			return c.JSON(http.StatusOK, r)
		}
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID())

	var more []string
	if os.Getenv("FIXED") == "1" {
		more = append(more, `CREATE INDEX receipts_vehicle ON receipts (vehicle, filled_at)`)
	}
	s, err := store.Open(ctx, 40000, more...)
	if err != nil {
		e.Logger.Fatal(err)
	}
	e.GET("/vehicles/:vehicle/receipts", recent(s))
	e.GET("/receipts/:id", get(s))
	e.GET("/healthz", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	go func() {
		<-ctx.Done()
		_ = e.Close()
	}()
	err = e.Start("127.0.0.1:9802")
	if closed := s.Close(); closed != nil {
		e.Logger.Error(closed)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		e.Logger.Fatal(err)
	}
}
