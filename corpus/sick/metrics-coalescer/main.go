// Command metrics-coalescer stores gauges in batches. A writer wakes up on a
// ticker and answers all that have come since, so that a request waits for the
// next tick even when nothing else is going on.
package main

import (
	"io"
	"log"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

type sample struct {
	name  string
	value float64
	acked chan<- int
}

type coalescer struct {
	mu      sync.Mutex
	waiting []sample
	gauges  map[string]float64
}

func (c *coalescer) put(name string, value float64) int {
	acked := make(chan int, 1)
	c.mu.Lock()
	c.waiting = append(c.waiting, sample{name, value, acked})
	c.mu.Unlock()
	return <-acked
}

func (c *coalescer) flush() {
	c.mu.Lock()
	batch := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	for _, s := range batch {
		c.gauges[s.name] = s.value
		s.acked <- len(c.gauges)
	}
}

func (c *coalescer) loop(tick <-chan time.Time) {
	for range tick {
		c.flush()
	}
}

func main() {
	c := &coalescer{gauges: map[string]float64{}}
	go c.loop(time.NewTicker(40 * time.Millisecond).C)
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.PUT("/gauges/:name", func(ctx echo.Context) error {
		text, err := io.ReadAll(ctx.Request().Body)
		if err != nil {
			return err
		}
		value, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return echo.NewHTTPError(http.StatusBadRequest, "not a number")
		}
		return ctx.String(http.StatusOK, strconv.Itoa(c.put(ctx.Param("name"), value)))
	})
	e.GET("/up", func(ctx echo.Context) error { return ctx.NoContent(http.StatusOK) })
	log.Fatal(e.Start("127.0.0.1:9415"))
}
