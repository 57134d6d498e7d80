// Package api is the HTTP interface for meters and shops that sell credit.
package api

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/heat-prepay/store"
)

type handler struct{ meters *store.Meters }

// New makes the server.
func New(m *store.Meters, log *zap.Logger) *echo.Echo {
	h := &handler{m}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		var known *echo.HTTPError
		if !errors.As(err, &known) {
			log.Error("request", zap.String("path", c.Path()), zap.Error(err))
		}
		e.DefaultHTTPErrorHandler(err, c)
	}
	e.Use(middleware.Recover(), middleware.RequestID(), middleware.ContextTimeout(5*time.Second))
	e.GET("/healthz", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	g := e.Group("/meters/:id")
	g.GET("", h.show)
	g.POST("/topup", h.book("topup", 1))
	g.POST("/use", h.book("use", -1))
	return e
}

func meter(c echo.Context) (int, error) {
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		return 0, echo.NewHTTPError(http.StatusBadRequest, "id: a number")
	}
	return id, nil
}

func (h *handler) show(c echo.Context) error {
	id, err := meter(c)
	if err != nil {
		return err
	}
	m, err := h.meters.Find(c.Request().Context(), id)
	if errors.Is(err, store.ErrUnknown) {
		return echo.ErrNotFound
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, m)
}

func (h *handler) book(kind string, sign int64) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := meter(c)
		if err != nil {
			return err
		}
		var in struct {
			Cents int64 `json:"cents"`
		}
		if err := c.Bind(&in); err != nil {
			return err
		}
		if in.Cents <= 0 || in.Cents > 50_000 {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, "cents: 1 to 50000")
		}
		credit, err := h.meters.Book(c.Request().Context(), id, sign*in.Cents, kind)
		if errors.Is(err, store.ErrUnknown) {
			return echo.ErrNotFound
		}
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, echo.Map{"id": id, "credit": credit})
	}
}
