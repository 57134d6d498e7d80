// Package desk is where observers write and visitors read.
package desk

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/healthy/observatory-log/night"
)

// Once drops what an instrument sends a second time within a minute, as they do
// when the dome's network hangs.
func Once() gin.HandlerFunc {
	var mu sync.Mutex
	seen := map[string]time.Time{}
	swept := time.Now()
	return func(c *gin.Context) {
		key := c.GetHeader("Idempotency-Key")
		if key == "" {
			return
		}
		now := time.Now()
		mu.Lock()
		if now.Sub(swept) > time.Second {
			for k, at := range seen {
				if now.Sub(at) > time.Minute {
					delete(seen, k)
				}
			}
			swept = now
		}
		_, again := seen[key]
		seen[key] = now
		mu.Unlock()
		if again {
			c.AbortWithStatus(http.StatusNoContent)
		}
	}
}

// Routes serves a journal.
func Routes(r gin.IRouter, j *night.Journal) {
	r.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusOK) })
	r.GET("/tonight", func(c *gin.Context) {
		if after, err := strconv.ParseInt(c.Query("after"), 10, 64); err == nil {
			c.JSON(http.StatusOK, gin.H{"observations": j.After(after)})
			return
		}
		c.IndentedJSON(http.StatusOK, gin.H{"observations": j.All(), "counts": j.Counts()})
	})
	r.POST("/observations", func(c *gin.Context) {
		var o night.Observation
		if err := c.ShouldBindJSON(&o); err != nil || o.Target == "" || o.Instrument == "" {
			c.AbortWithStatusJSON(http.StatusUnprocessableEntity, gin.H{"error": "target and instrument are required"})
			return
		}
		o.At = time.Now()
		c.JSON(http.StatusCreated, j.Add(o))
	})
}
