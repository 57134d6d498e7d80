// Package app is the HTTP interface of the summit book.
package app

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/healthy/peak-register/peaks"
)

type app struct{ book *peaks.Book }

// New makes the server of a book.
func New(b *peaks.Book) *echo.Echo {
	a := &app{b}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID(), middleware.BodyLimit("8K"), language("en", "de", "it", "rm"))
	e.GET("/healthz", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	e.GET("/peaks", a.list)
	e.GET("/peaks/:id", a.show)
	e.POST("/peaks/:id/ascents", a.note)
	e.GET("/ranks", func(c echo.Context) error { return c.JSON(http.StatusOK, a.book.Ranks()) })
	return e
}

func language(known ...string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			want := c.Request().Header.Get("Accept-Language")
			for _, k := range known {
				if len(want) >= 2 && want[:2] == k {
					c.Response().Header().Set("Content-Language", k)
				}
			}
			return next(c)
		}
	}
}

func (a *app) list(c echo.Context) error {
	metres := 0
	if s := c.QueryParam("above"); s != "" {
		var err error
		if metres, err = strconv.Atoi(s); err != nil {
			return echo.NewHTTPError(http.StatusBadRequest, "above: metres")
		}
	}
	return c.JSONPretty(http.StatusOK, echo.Map{"peaks": a.book.Above(metres)}, "  ")
}

func (a *app) show(c echo.Context) error {
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		return echo.ErrNotFound
	}
	p, err := a.book.Find(id)
	if errors.Is(err, peaks.ErrUnknown) {
		return echo.ErrNotFound
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, p)
}

func (a *app) note(c echo.Context) error {
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		return echo.ErrNotFound
	}
	var in peaks.Ascent
	if err := c.Bind(&in); err != nil {
		return err
	}
	if in.Climber == "" || in.Route == "" {
		return echo.NewHTTPError(http.StatusUnprocessableEntity, "climber and route are required")
	}
	in.At = time.Now().UTC()
	switch err := a.book.Note(id, in); {
	case errors.Is(err, peaks.ErrUnknown):
		return echo.ErrNotFound
	case err != nil:
		return err
	}
	return c.JSON(http.StatusCreated, in)
}
