// Command stock-sourcing finds a warehouse that has an article. The warehouses' service
// refuses more than half of all calls just now; each refusal is met with the next
// attempt at once, up to nine times.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"
)

var errRefused = errors.New("warehouse refused")

// attempt is anything that may be tried again.
type attempt[T any] func(ctx context.Context) (T, error)

func insist[T any](ctx context.Context, times int, try attempt[T]) (T, error) {
	var zero T
	var last error
	for range times {
		v, err := try(ctx)
		if err == nil {
			return v, nil
		}
		if ctx.Err() != nil {
			return zero, ctx.Err()
		}
		last = err
	}
	return zero, fmt.Errorf("%d attempts: %w", times, last)
}

type holding struct {
	SKU   string `json:"sku"`
	State string `json:"state"`
}

type warehouses struct {
	url    string
	client *http.Client
}

func (w *warehouses) ask(sku string) attempt[holding] {
	return func(ctx context.Context) (holding, error) {
		h := holding{SKU: sku}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/holdings/"+sku, nil)
		if err != nil {
			return h, err
		}
		resp, err := w.client.Do(req)
		if err != nil {
			return h, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			var skip [512]byte
			for err == nil {
				_, err = resp.Body.Read(skip[:])
			}
			return h, errRefused
		}
		return h, json.NewDecoder(resp.Body).Decode(&h)
	}
}

func (w *warehouses) source(ctx context.Context, sku string) (holding, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return insist(ctx, 10, w.ask(sku))
}

func main() {
	w := &warehouses{os.Getenv("BACKEND_URL"), &http.Client{Transport: &http.Transport{MaxIdleConns: 200, MaxIdleConnsPerHost: 200}}}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/ready", func(c echo.Context) error { return c.String(http.StatusOK, "ready") })
	e.GET("/articles/:sku/source", func(c echo.Context) error {
		h, err := w.source(c.Request().Context(), c.Param("sku"))
		if err != nil {
			return c.JSON(http.StatusServiceUnavailable, map[string]string{"error": err.Error()})
		}
		return c.JSON(http.StatusOK, h)
	})
	e.Logger.Fatal(e.Start("127.0.0.1:9861"))
}
