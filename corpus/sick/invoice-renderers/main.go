// Command invoice-renderers has invoices rendered by another service. No more
// than two renderings may be under way, by a channel used as a semaphore, though
// the renderer would take many more.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"
)

type slots chan struct{}

func (s slots) take(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) give() { <-s }

type renderer struct {
	free   slots
	client *http.Client
	base   string
}

func (r *renderer) render(ctx context.Context, invoice string) (int64, error) {
	if err := r.free.take(ctx); err != nil {
		return 0, err
	}
	defer r.free.give()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/pdf/"+invoice, nil)
	if err != nil {
		return 0, err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return io.Copy(io.Discard, res.Body)
}

func main() {
	r := &renderer{
		free:   make(slots, 2),
		client: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32}},
		base:   os.Getenv("BACKEND_URL"),
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/invoices/:id/pdf", func(c echo.Context) error {
		n, err := r.render(c.Request().Context(), c.Param("id"))
		if err != nil {
			return echo.NewHTTPError(http.StatusBadGateway, err.Error())
		}
		return c.String(http.StatusOK, fmt.Sprintf("%d bytes", n))
	})
	e.GET("/live", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.Logger.Fatal(e.Start("127.0.0.1:9408"))
}
