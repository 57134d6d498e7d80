// Package api has the routes.
package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/sick/reef-surveys/internal/survey"
)

// Reporter makes reports.
type Reporter interface {
	Report(ctx context.Context, reef int) (*survey.Report, error)
}

// New returns the routes.
func New(r Reporter) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID(), middleware.Secure())
	e.GET("/live", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/reefs/:reef/survey", func(c echo.Context) error {
		reef, err := strconv.Atoi(c.Param("reef"))
		if err != nil {
			return echo.NewHTTPError(http.StatusBadRequest, "reef")
		}
		rep, err := r.Report(c.Request().Context(), reef)
		if errors.Is(err, survey.ErrNone) {
			return echo.ErrNotFound
		}
		if err != nil {
			return echo.NewHTTPError(http.StatusInternalServerError, "survey").SetInternal(err)
		}
		return c.JSON(http.StatusOK, rep)
	})
	return e
}
