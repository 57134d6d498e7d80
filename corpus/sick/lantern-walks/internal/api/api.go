// Package api has the routes.
package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/sick/lantern-walks/internal/walks"
)

// Seller sells tickets.
type Seller interface {
	Buy(ctx context.Context, walk int, name string) (walks.Ticket, error)
}

type buyer struct {
	Walk int    `param:"walk"`
	Name string `json:"name"`
}

// New returns the routes.
func New(s Seller, log *slog.Logger) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.BodyLimit("8K"))
	e.GET("/up", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.POST("/walks/:walk/tickets", func(c echo.Context) error {
		var in buyer
		if err := c.Bind(&in); err != nil {
			return err
		}
		if in.Name == "" {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, "name")
		}
		t, err := s.Buy(c.Request().Context(), in.Walk, in.Name)
		switch {
		case errors.Is(err, walks.ErrFull):
			return echo.NewHTTPError(http.StatusConflict, "full")
		case err != nil:
			log.Error("buy", "walk", in.Walk, "err", err)
			return echo.NewHTTPError(http.StatusBadGateway)
		}
		return c.JSON(http.StatusOK, t)
	})
	return e
}
