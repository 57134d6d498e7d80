// Package web has the routes.
package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/pallet-loads/internal/loading"
)

// Planner makes plans.
type Planner interface {
	Plan(order int, boxes []loading.Box) loading.Plan
}

// New returns the routes.
func New(p Planner, log *zap.Logger) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID())
	e.GET("/up", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/orders/:order/plan", func(c echo.Context) error {
		order, err := strconv.Atoi(c.Param("order"))
		if err != nil {
			return echo.NewHTTPError(http.StatusBadRequest, "order")
		}
		plan := p.Plan(order, boxes(order))
		if len(plan.Left) > 20 {
			log.Warn("order too large", zap.Int("order", order), zap.Int("left", len(plan.Left)))
		}
		return c.JSON(http.StatusOK, plan)
	})
	return e
}

// boxes returns what was ordered.
func boxes(order int) []loading.Box {
	list := make([]loading.Box, 20+order%30)
	for i := range list {
		k := order*31 + i*17
		list[i] = loading.Box{ID: i, Height: 40 + k%60, Width: 60 + k%50, Length: 80 + k%70, Fragile: k%9 == 0}
	}
	return list
}
