// Package api is the HTTP side.
package api

import (
	"log/slog"
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/sick/tenant-branding/branding"
)

// hits counts requests by kind of answer.
type hits struct {
	mu sync.Mutex
	by map[int]int
}

func (h *hits) middleware(c *gin.Context) {
	c.Next()
	h.mu.Lock()
	h.by[c.Writer.Status()]++
	h.mu.Unlock()
}

// Engine returns the routes.
func Engine(store branding.Store) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	h := &hits{by: map[int]int{}}
	e := gin.New()
	e.Use(gin.Recovery(), h.middleware)
	e.GET("/status", func(c *gin.Context) { c.Status(http.StatusOK) })
	e.GET("/tenants/:tenant/theme", func(c *gin.Context) {
		id, err := strconv.Atoi(c.Param("tenant"))
		if err != nil {
			c.AbortWithStatus(http.StatusBadRequest)
			return
		}
		t, err := store.Theme(c.Request.Context(), id)
		if err != nil {
			slog.Warn("theme", "tenant", id, "err", err)
			c.AbortWithStatus(http.StatusBadGateway)
			return
		}
		c.Header("Cache-Control", "max-age=5")
		c.JSON(http.StatusOK, t)
	})
	return e
}
