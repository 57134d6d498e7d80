// Command swim-classes serves the timetable of a town's swimming pools.
package main

import (
	"errors"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/redline-go/redline/corpus/sick/swim-classes/timetable"
)

type api struct{ desk *timetable.Desk }

func (a api) week(c echo.Context) error {
	pool, err := strconv.ParseUint(c.Param("pool"), 10, 32)
	if err != nil {
		return echo.NewHTTPError(http.StatusBadRequest, "no pool number")
	}
	days, err := a.desk.Week(c.Request().Context(), uint(pool), c.QueryParam("level"))
	switch {
	case errors.Is(err, timetable.ErrNoPool):
		return echo.NewHTTPError(http.StatusNotFound, err.Error())
	case err != nil:
		return err
	}
	return c.JSON(http.StatusOK, days)
}

func main() {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID())

	db, err := gorm.Open(postgres.Open(os.Getenv("DATABASE_URL")), &gorm.Config{
		Logger: logger.Default.LogMode(logger.Error), SkipDefaultTransaction: true, PrepareStmt: true,
	})
	if err != nil {
		e.Logger.Fatal(err)
	}
	if std, err := db.DB(); err == nil {
		std.SetMaxOpenConns(12)
		std.SetMaxIdleConns(12)
		std.SetConnMaxLifetime(time.Hour)
	}
	if err := timetable.Install(db); err != nil {
		e.Logger.Fatal(err)
	}
	if os.Getenv("FIXED") == "1" {
		db = timetable.Preloaded(db)
	}
	a := api{timetable.New(db)}
	e.GET("/pools/:pool/week", a.week)
	e.GET("/alive", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	e.Logger.Fatal(e.Start("127.0.0.1:21301"))
}
