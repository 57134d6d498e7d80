// Command toll-passages books the passages of vehicles through toll lanes.
package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/healthy/toll-passages/account"
	"github.com/redline-go/redline/corpus/healthy/toll-passages/lane"
)

type passage struct {
	Lane  string `json:"lane"`
	Plate string `json:"plate"`
	Axles int    `json:"axles"`
}

type booth struct {
	tariff *lane.Tariff
	ledger *account.Ledger
	log    *slog.Logger
}

// pass prices a passage while the account is read, both of which are ready in a
// few milliseconds.
func (b *booth) pass(c echo.Context) error {
	var p passage
	if err := c.Bind(&p); err != nil {
		return err
	}
	if p.Plate == "" || p.Axles < 2 || p.Axles > 12 {
		return echo.NewHTTPError(http.StatusUnprocessableEntity, "plate and 2 to 12 axles are required")
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), time.Second)
	defer cancel()

	var wg sync.WaitGroup
	var holder account.Holder
	var cents int
	var holderErr, priceErr error
	wg.Go(func() { holder, holderErr = b.ledger.Holder(ctx, p.Plate) })
	wg.Go(func() { cents, priceErr = b.tariff.Price(p.Lane, p.Axles, time.Now()) })
	wg.Wait()
	if errors.Is(priceErr, lane.ErrUnknown) {
		return echo.NewHTTPError(http.StatusNotFound, "no such lane")
	}
	if err := errors.Join(holderErr, priceErr); err != nil {
		b.log.WarnContext(ctx, "passage", "err", err)
		return echo.NewHTTPError(http.StatusBadGateway, "the ledger is not available")
	}
	if holder.Frequent {
		cents -= cents / 10
	}
	return c.JSON(http.StatusCreated, map[string]any{"plate": p.Plate, "cents": cents, "open": holder.Open})
}

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tariff := lane.NewTariff()
	go tariff.Follow(ctx, 500*time.Millisecond)
	b := &booth{tariff, account.NewLedger(os.Getenv("BACKEND_URL"), 6, 2*time.Second), log}

	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.BodyLimit("8K"))
	e.GET("/livez", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.POST("/passages", b.pass)
	context.AfterFunc(ctx, func() { _ = e.Close() })
	if err := e.Start("127.0.0.1:9352"); !errors.Is(err, http.ErrServerClosed) {
		log.Error("serve", "err", err)
		os.Exit(1)
	}
}
