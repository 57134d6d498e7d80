// Package api answers walkers.
package api

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/redline-go/redline/corpus/healthy/walk-finder/finder"
	"github.com/redline-go/redline/corpus/healthy/walk-finder/trail"
)

// guests counts the visits of guests.
type guests struct {
	mu     sync.Mutex
	visits map[string]int
}

func (g *guests) count(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.visits) > 10_000 {
		clear(g.visits)
	}
	g.visits[name]++
}

// New makes the engine.
func New(f *finder.Finder, r *trail.Region) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	g := &guests{visits: map[string]int{}}
	answers := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "answers_total", Help: "Answers by status."}, []string{"status"})
	good, bad := answers.WithLabelValues("2xx"), answers.WithLabelValues("other")
	e.Use(gin.Recovery(), func(c *gin.Context) {
		g.count(c.GetHeader("X-Guest"))
		c.Next()
		if c.Writer.Status() < 300 {
			good.Inc()
		} else {
			bad.Inc()
		}
	})
	e.GET("/alive", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	e.GET("/walks", func(c *gin.Context) {
		list, err := f.Find(c.Request.Context(), c.Query("near"))
		if err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, gin.H{"near": c.Query("near"), "walks": list})
	})
	e.POST("/walks/:id/likes", func(c *gin.Context) {
		id, err := strconv.Atoi(c.Param("id"))
		if err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		n, ok := r.Like(id)
		if !ok {
			c.Status(http.StatusNotFound)
			return
		}
		c.JSON(http.StatusCreated, gin.H{"likes": n})
	})
	return e
}
