// Command vat-register checks the tax numbers that an invoice names.
package main

import (
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/sick/vat-register/internal/register"
	"github.com/redline-go/redline/corpus/sick/vat-register/internal/rules"
)

func main() {
	factory := rules.Factory(rules.New)
	if os.Getenv("FIXED") == "1" {
		factory = rules.Shared()
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID(), middleware.BodyLimit("64K"))
	e.GET("/ping", func(c echo.Context) error { return c.String(http.StatusOK, "pong") })
	register.NewController(factory).Mount(e.Group("/v2"))
	if err := e.Start("127.0.0.1:23403"); err != nil && err != http.ErrServerClosed {
		e.Logger.Fatal(err)
	}
}
