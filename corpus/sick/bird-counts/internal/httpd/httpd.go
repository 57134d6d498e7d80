// Package httpd answers bird watchers.
package httpd

import (
	"math"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/redline-go/redline/corpus/sick/bird-counts/internal/sightings"
	"github.com/redline-go/redline/corpus/sick/bird-counts/internal/similar"
)

type near struct {
	Species string  `json:"species"`
	Alike   float64 `json:"alike"`
}

type report struct {
	Square int `json:"square"`
	Birds  int `json:"birds"`
}

// New makes the server.
func New(book *sightings.Book, keeper *similar.Keeper) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.BodyLimit("16K"))
	e.GET("/livez", func(c echo.Context) error { return c.String(http.StatusOK, "ok") })
	species := func(c echo.Context) (int, error) {
		i, err := strconv.Atoi(c.Param("species"))
		if err != nil || i < 0 || i >= book.Len() {
			return 0, echo.NewHTTPError(http.StatusNotFound, "species")
		}
		return i, nil
	}
	e.GET("/species/:species/similar", func(c echo.Context) error {
		i, err := species(c)
		if err != nil {
			return err
		}
		list := []near{}
		for _, n := range keeper.Table().Of(i, 8) {
			list = append(list, near{book.Name(n.Species), math.Round(n.Alike*1e4) / 1e4})
		}
		return c.JSON(http.StatusOK, echo.Map{"species": book.Name(i), "similar": list})
	})
	e.POST("/species/:species/sightings", func(c echo.Context) error {
		i, err := species(c)
		if err != nil {
			return err
		}
		var r report
		if err := c.Bind(&r); err != nil {
			return err
		}
		if r.Square < 0 || r.Square >= sightings.Squares || r.Birds < 1 {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, "square or birds")
		}
		return c.JSON(http.StatusCreated, echo.Map{"species": book.Name(i), "total": book.Add(i, r.Square, r.Birds)})
	})
	return e
}
