// Command mill-batches works out what a mill must weigh in for a batch of muesli.
package main

import (
	"net/http"
	"os"
	"path/filepath"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/mill-batches/recipe"
)

type order struct {
	Recipe string  `json:"recipe"`
	Kilos  float64 `json:"kilos"`
	Silo   int     `json:"silo"`
}

// plantLog writes the log that auditors read, a line for each event.
func plantLog() (*logrus.Logger, error) {
	dir, err := os.MkdirTemp("", "mill-batches-")
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "plant.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	l := logrus.New()
	l.SetOutput(f)
	l.SetFormatter(&logrus.JSONFormatter{})
	l.SetReportCaller(true)
	l.SetLevel(logrus.DebugLevel)
	if os.Getenv("FIXED") == "1" {
		l.SetLevel(logrus.WarnLevel)
	}
	return l, nil
}

func main() {
	l, err := plantLog()
	if err != nil {
		logrus.Fatal(err)
	}
	planner := recipe.NewPlanner(l)
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/ready", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.POST("/batches", func(c echo.Context) error {
		var o order
		if err := c.Bind(&o); err != nil {
			return err
		}
		if o.Kilos <= 0 || o.Kilos > 20000 {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, "kilos are out of bounds")
		}
		plan, err := planner.Plan(c.Request().Context(), o.Recipe, o.Kilos)
		if err != nil {
			return echo.NewHTTPError(http.StatusNotFound, err.Error())
		}
		return c.JSON(http.StatusOK, plan)
	})
	logrus.Fatal(e.Start("127.0.0.1:21308"))
}
