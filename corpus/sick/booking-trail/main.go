// Command booking-trail reserves seats and leaves a trail of each in its log.
package main

import (
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"
)

type hall struct {
	trail *logrus.Logger
	taken [400]bool
}

func (h *hall) reserve(c echo.Context) error {
	n, err := strconv.Atoi(c.QueryParam("seats"))
	if err != nil || n > 50 {
		return c.NoContent(http.StatusBadRequest)
	}
	for i := range n {
		h.trail.WithFields(logrus.Fields{"seat": i, "row": i / 20, "taken": h.taken[i], "client": c.RealIP()}).Debug("seat considered")
	}
	return c.String(http.StatusOK, "held")
}

func main() {
	out, err := os.CreateTemp("", "trail")
	if err != nil {
		log.Fatal(err)
	}
	os.Remove(out.Name())
	trail := logrus.New()
	trail.SetLevel(logrus.DebugLevel)
	trail.SetOutput(out)
	h := &hall{trail: trail}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/book", h.reserve)
	e.GET("/healthz", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	log.Fatal(e.Start("127.0.0.1:9709"))
}
