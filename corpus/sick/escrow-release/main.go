// Command escrow-release pays out what buyers have deposited, once the goods have come.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/escrow-release/escrow"
)

func open(ctx context.Context) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return nil, err
	}
	c.MaxConns, c.MinConns = 6, 6
	return pgxpool.NewWithConfig(ctx, c)
}

func main() {
	log, _ := zap.NewProduction()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	pool, err := open(ctx)
	if err == nil {
		err = escrow.Migrate(ctx, pool)
	}
	if err != nil {
		log.Fatal("database", zap.Error(err))
	}
	bank := escrow.NewBank(os.Getenv("BACKEND_URL"))
	desk := &escrow.Desk{Store: escrow.Store{Pool: pool}, Bank: bank, AskFirst: os.Getenv("FIXED") == "1"}

	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.BodyLimit("16K"))
	e.GET("/healthz", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.POST("/escrows/:id/release", func(c echo.Context) error {
		id, err := strconv.ParseInt(c.Param("id"), 10, 64)
		if err != nil {
			return echo.ErrBadRequest
		}
		p, err := desk.Release(c.Request().Context(), id)
		switch {
		case errors.Is(err, escrow.ErrUnknown):
			return echo.ErrNotFound
		case err != nil:
			log.Error("release", zap.Int64("id", id), zap.Error(err))
			return echo.ErrInternalServerError
		}
		return c.JSON(http.StatusOK, p)
	})
	log.Fatal("serve", zap.Error(e.Start("127.0.0.1:21319")))
}
