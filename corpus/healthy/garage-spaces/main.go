// Command garage-spaces reports how many spaces a garage has.
package main

import (
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/healthy/garage-spaces/garage"
)

func main() {
	log := logrus.New()
	log.SetLevel(logrus.WarnLevel)
	finder := garage.NewFinder(garage.NewGate(os.Getenv("BACKEND_URL")), 400*time.Millisecond)
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID())
	e.GET("/alive", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/garages/:garage", func(c echo.Context) error {
		s, err := finder.Spaces(c.Request().Context(), c.Param("garage"))
		if err != nil {
			log.WithError(err).Warn("gate")
			return echo.NewHTTPError(http.StatusBadGateway)
		}
		return c.JSON(http.StatusOK, s)
	})
	log.Fatal(e.Start("127.0.0.1:23434"))
}
