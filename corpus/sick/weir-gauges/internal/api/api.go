// Package api has the routes.
package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/sick/weir-gauges/internal/gauges"
)

// Accepter takes reports.
type Accepter interface {
	Accept(ctx context.Context, gauge int, rep gauges.Report) (int, error)
}

// New returns the routes.
func New(a Accepter) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.BodyLimit("64K"))
	e.GET("/ready", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.POST("/gauges/:gauge/reports", func(c echo.Context) error {
		var in struct {
			Gauge int `param:"gauge"`
			gauges.Report
		}
		if err := c.Bind(&in); err != nil {
			return err
		}
		n, err := a.Accept(c.Request().Context(), in.Gauge, in.Report)
		if errors.Is(err, gauges.ErrReport) {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, err.Error())
		}
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, echo.Map{"stored": len(in.Levels), "doubtful": n})
	})
	return e
}
