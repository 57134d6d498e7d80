// Package server is the HTTP side.
package server

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/sick/marathon-results/race"
)

// New returns the routes.
func New(p race.Placer) http.Handler {
	e := echo.New()
	e.Use(middleware.Recover(), middleware.RequestID(), middleware.ContextTimeout(5*time.Second))
	e.Use(middleware.RequestLoggerWithConfig(middleware.RequestLoggerConfig{LogStatus: true, LogURI: true, LogLatency: true,
		LogValuesFunc: func(_ echo.Context, v middleware.RequestLoggerValues) error {
			if v.Status >= 500 {
				slog.Error("request", "uri", v.URI, "status", v.Status)
			}
			return nil
		}}))
	e.GET("/health", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/runners/:bib", func(c echo.Context) error {
		bib, err := strconv.Atoi(c.Param("bib"))
		if err != nil {
			return echo.ErrBadRequest
		}
		places, ok := p.Places(bib)
		if !ok {
			return echo.ErrNotFound
		}
		return c.JSON(http.StatusOK, places)
	})
	return e
}
