// Package desk takes orders for the press.
package desk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-resty/resty/v2"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/redline-go/redline/corpus/healthy/print-bureau/press"
)

// Stock asks the paper merchant.
type Stock struct {
	client *resty.Client
	seats  *semaphore.Weighted
}

// NewStock makes a stock at base.
func NewStock(base string) *Stock {
	c := resty.NewWithClient(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}).
		SetBaseURL(base).SetTimeout(800 * time.Millisecond).
		SetRetryCount(2).SetRetryWaitTime(20 * time.Millisecond).
		AddRetryCondition(func(r *resty.Response, err error) bool { return err != nil || r.StatusCode() >= 500 })
	return &Stock{c, semaphore.NewWeighted(32)}
}

func (s *Stock) paper(ctx context.Context) (string, error) {
	if err := s.seats.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer s.seats.Release(1)
	var answer struct {
		State string `json:"state"`
	}
	r, err := s.client.R().SetContext(ctx).SetResult(&answer).Get("/paper/a5")
	if err != nil {
		return "", err
	}
	if r.IsError() {
		return "", fmt.Errorf("merchant: %s", r.Status())
	}
	return answer.State, nil
}

// New makes the server.
func New(p *press.Press, s *Stock) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	limit := rate.NewLimiter(2000, 400)
	e.Use(middleware.Recover(), middleware.RequestID(), middleware.BodyLimit("64K"), func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if !limit.Allow() {
				return echo.ErrTooManyRequests
			}
			return next(c)
		}
	})
	e.GET("/livez", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.POST("/proofs", func(c echo.Context) error {
		var o press.Order
		if err := c.Bind(&o); err != nil {
			return err
		}
		if o.Title == "" || o.Text == "" || o.Width < 20 || o.Width > 120 {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, "title, text and a width of 20 to 120 are required")
		}
		ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
		defer cancel()
		type paper struct {
			state string
			err   error
		}
		asked := make(chan paper, 1)
		go func() {
			state, err := s.paper(ctx)
			asked <- paper{state, err}
		}()
		proof, err := p.Set(ctx, o)
		if errors.Is(err, press.ErrClosed) {
			return echo.ErrServiceUnavailable
		}
		if err != nil {
			return err
		}
		a := <-asked
		if a.err != nil {
			return echo.NewHTTPError(http.StatusBadGateway, a.err.Error())
		}
		proof.Stock = a.state
		return c.JSON(http.StatusCreated, proof)
	})
	return e
}
