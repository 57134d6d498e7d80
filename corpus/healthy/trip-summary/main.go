// Command trip-summary gathers what a traveller wants to see of a trip: the
// weather, the hotel and the train.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"golang.org/x/sync/errgroup"
)

type part struct {
	State string `json:"state"`
	Note  string `json:"note,omitempty"`
}

type summary struct {
	Trip    string `json:"trip"`
	Weather part   `json:"weather"`
	Hotel   part   `json:"hotel"`
	Train   part   `json:"train"`
}

type upstream struct {
	name, base string
	http       *http.Client
}

func (u upstream) fetch(ctx context.Context, trip string, into *part) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.base+"/"+u.name+"/"+trip, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", u.name, err)
	}
	resp, err := u.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", u.name, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", u.name, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", u.name, err)
	}
	return nil
}

type gatherer struct{ weather, hotel, train upstream }

func (g gatherer) gather(ctx context.Context, trip string) (summary, error) {
	ctx, cancel := context.WithTimeout(ctx, 800*time.Millisecond)
	defer cancel()
	s := summary{Trip: trip}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return g.weather.fetch(ctx, trip, &s.Weather) })
	group.Go(func() error { return g.hotel.fetch(ctx, trip, &s.Hotel) })
	group.Go(func() error { return g.train.fetch(ctx, trip, &s.Train) })
	return s, group.Wait()
}

func main() {
	transport := &http.Transport{MaxIdleConns: 200, MaxIdleConnsPerHost: 100, IdleConnTimeout: time.Minute}
	client := &http.Client{Transport: transport, Timeout: time.Second}
	base := strings.TrimSuffix(os.Getenv("BACKEND_URL"), "/")
	g := gatherer{
		weather: upstream{"weather", base, client},
		hotel:   upstream{"hotels", base, client},
		train:   upstream{"trains", base, client},
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover())
	e.GET("/trips/:trip/summary", func(c echo.Context) error {
		s, err := g.gather(c.Request().Context(), c.Param("trip"))
		if err != nil {
			return echo.NewHTTPError(http.StatusBadGateway, err.Error())
		}
		return c.JSON(http.StatusOK, s)
	})
	e.GET("/livez", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.Logger.Fatal(e.Start("127.0.0.1:9810"))
}
