// Command newsstand-covers shows the covers of magazines.
package main

import (
	"errors"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/newsstand-covers/covers"
)

func main() {
	log := zap.Must(zap.NewProduction(zap.IncreaseLevel(zap.WarnLevel)))
	press := covers.NewPress(os.Getenv("BACKEND_URL"))
	desk := covers.NewDesk(press, covers.ByPublisher)
	if os.Getenv("FIXED") == "1" {
		desk = covers.NewDesk(press, covers.ByIssue)
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.Gzip())
	e.GET("/alive", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	e.GET("/covers/:publisher/:issue", func(c echo.Context) error {
		cover, err := desk.Cover(c.Request().Context(), covers.Issue{Publisher: c.Param("publisher"), Number: c.Param("issue")})
		if err != nil {
			log.Warn("cover", zap.Error(err))
			return echo.NewHTTPError(http.StatusBadGateway)
		}
		return c.JSON(http.StatusOK, cover)
	})
	if err := e.Start("127.0.0.1:23412"); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal("start", zap.Error(err))
	}
}
