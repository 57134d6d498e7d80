// Command holiday-packages puts a holiday together from the offers of partners.
package main

import (
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/sick/holiday-packages/offers"
)

func main() {
	settings := offers.Defaults()
	if os.Getenv("FIXED") == "1" {
		settings.Parallel = 8
	}
	desk := offers.NewDesk(os.Getenv("BACKEND_URL"), settings)
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.ContextTimeout(3*time.Second))
	e.GET("/ready", func(c echo.Context) error { return c.String(http.StatusOK, "ready") })
	e.GET("/packages/:place", func(c echo.Context) error {
		nights, err := strconv.Atoi(c.QueryParam("nights"))
		if err != nil || nights < 1 || nights > 28 {
			return echo.NewHTTPError(http.StatusBadRequest, "1 to 28 nights")
		}
		p, err := desk.Package(c.Request().Context(), offers.Wish{Place: c.Param("place"), Nights: nights, People: 2})
		if err != nil {
			return echo.NewHTTPError(http.StatusBadGateway, err.Error())
		}
		return c.JSON(http.StatusOK, p)
	})
	e.Logger.Fatal(e.Start("127.0.0.1:21312"))
}
