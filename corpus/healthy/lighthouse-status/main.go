// Command lighthouse-status takes the hourly reports of lighthouses and shows the
// last ones. Few come, each is logged in full, and the machine idles.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/rs/zerolog"
)

type report struct {
	Tower   string    `json:"tower"`
	Lamp    string    `json:"lamp"`
	Volts   float64   `json:"volts"`
	Fog     bool      `json:"fog"`
	Arrived time.Time `json:"arrived"`
}

type tower struct {
	mu   sync.RWMutex
	last []report
}

func (t *tower) add(r report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.last) == 24 {
		t.last = append(t.last[:0], t.last[1:]...)
	}
	t.last = append(t.last, r)
}

func (t *tower) day() []report {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return append([]report(nil), t.last...)
}

type coast struct {
	towers map[string]*tower
	log    zerolog.Logger
}

func (c *coast) take(ctx echo.Context) error {
	t, ok := c.towers[ctx.Param("tower")]
	if !ok {
		return echo.ErrNotFound
	}
	var r report
	if err := ctx.Bind(&r); err != nil {
		return err
	}
	r.Tower, r.Arrived = ctx.Param("tower"), time.Now().UTC()
	t.add(r)
	c.log.Debug().Str("tower", r.Tower).Str("lamp", r.Lamp).Float64("volts", r.Volts).Bool("fog", r.Fog).Msg("report")
	if r.Volts < 11 {
		c.log.Warn().Str("tower", r.Tower).Float64("volts", r.Volts).Msg("battery is low")
	}
	return ctx.NoContent(http.StatusAccepted)
}

func (c *coast) show(ctx echo.Context) error {
	t, ok := c.towers[ctx.Param("tower")]
	if !ok {
		return echo.ErrNotFound
	}
	day := t.day()
	var volts float64
	for _, r := range day {
		volts += r.Volts / float64(len(day))
	}
	return ctx.JSON(http.StatusOK, map[string]any{"tower": ctx.Param("tower"), "volts": volts, "reports": day})
}

func main() {
	f, err := os.CreateTemp("", "lighthouse-status-*.log")
	if err != nil {
		panic(err)
	}
	c := &coast{towers: map[string]*tower{}, log: zerolog.New(f).With().Timestamp().Caller().Logger()}
	for i := range 60 {
		c.towers[fmt.Sprintf("t%d", i)] = &tower{}
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.RequestID(), middleware.Secure())
	e.GET("/alive", func(ctx echo.Context) error { return ctx.NoContent(http.StatusOK) })
	e.POST("/towers/:tower/reports", c.take)
	e.GET("/towers/:tower", c.show)
	e.Logger.Fatal(e.Start("127.0.0.1:21334"))
}
