// Command picnic-weather says where one can sit outside.
package main

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

func traced(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get("X-Trace")
		if id == "" {
			id = rand.Text()
		}
		c.Set("trace", id)
		c.Response().Header().Set("X-Trace", id)
		return next(c)
	}
}

func coordinate(c echo.Context, name string, most float64) (float64, error) {
	v, err := strconv.ParseFloat(c.QueryParam(name), 64)
	if err != nil || v < -most || v > most {
		return 0, echo.NewHTTPError(http.StatusBadRequest, name)
	}
	return v, nil
}

func handler(f *Forecasts) echo.HandlerFunc {
	return func(c echo.Context) error {
		lat, err := coordinate(c, "lat", 90)
		if err != nil {
			return err
		}
		lon, err := coordinate(c, "lon", 180)
		if err != nil {
			return err
		}
		trace, _ := c.Get("trace").(string)
		got, err := f.At(c.Request().Context(), Spot{Lat: round(lat), Lon: round(lon), Units: "metric", Trace: trace})
		if errors.Is(err, ErrUpstream) {
			return echo.NewHTTPError(http.StatusBadGateway, "forecast")
		}
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, got)
	}
}

func main() {
	f, err := NewForecasts(os.Getenv("BACKEND_URL"), 10_000)
	if err != nil {
		slog.Error("cache", "err", err)
		os.Exit(1)
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), traced)
	e.GET("/picnic", handler(f))
	e.GET("/ready", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	slog.Error("serve", "err", e.Start("127.0.0.1:9212"))
}
