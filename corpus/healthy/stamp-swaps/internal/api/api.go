// Package api has the routes.
package api

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/healthy/stamp-swaps/internal/swap"
)

// Valuer values swaps.
type Valuer interface {
	Value(ctx context.Context, give, get int) (swap.Value, error)
}

// New returns the routes.
func New(v Valuer) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID(), middleware.ContextTimeout(2*time.Second))
	e.GET("/up", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/swaps/:give/:get", func(c echo.Context) error {
		var in struct {
			Give int `param:"give"`
			Get  int `param:"get"`
		}
		if err := c.Bind(&in); err != nil {
			return err
		}
		value, err := v.Value(c.Request().Context(), in.Give, in.Get)
		if err != nil {
			return echo.NewHTTPError(http.StatusBadGateway, "dealers").SetInternal(err)
		}
		return c.JSON(http.StatusOK, value)
	})
	return e
}
