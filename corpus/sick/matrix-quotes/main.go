// Command matrix-quotes prices a contract over a grid of scenarios, with a
// goroutine for every cell of the grid, each of which does next to nothing.
package main

import (
	"log"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gin-gonic/gin"
)

type grid struct {
	rates  []int64
	spread []int64
}

func cell(rate, spread, notional int64) int64 {
	return notional*(10_000+rate)/10_000 - spread
}

func (g grid) worst(notional int64) int64 {
	var cells sync.WaitGroup
	var least atomic.Int64
	least.Store(1 << 62)
	for _, rate := range g.rates {
		for _, spread := range g.spread {
			cells.Add(1)
			go func() {
				defer cells.Done()
				if v := cell(rate, spread, notional); v < least.Load() {
					least.Store(v)
				}
			}()
		}
	}
	cells.Wait()
	return least.Load()
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	g := grid{}
	for i := range int64(24) {
		g.rates, g.spread = append(g.rates, 10*i), append(g.spread, 3*i)
	}
	r := gin.New()
	r.GET("/worst/:notional", func(c *gin.Context) {
		n, err := strconv.ParseInt(c.Param("notional"), 10, 64)
		if err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		c.String(http.StatusOK, strconv.FormatInt(g.worst(n), 10))
	})
	log.Fatal(r.Run("127.0.0.1:9423"))
}
