// Package httpapi is the HTTP side.
package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/sick/airport-transfers/quote"
)

// Serve serves quotes.
func Serve(addr string, q *quote.Quoter) error {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/ready", func(c *gin.Context) { c.Status(http.StatusOK) })
	r.GET("/airports/:airport/quote", func(c *gin.Context) {
		persons, err := strconv.Atoi(c.DefaultQuery("persons", "1"))
		if err != nil || persons < 1 || persons > 8 || c.Query("from") == "" {
			c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": "from, and 1 to 8 persons"})
			return
		}
		at := time.Now() // when no time is given: now
		if s := c.Query("at"); s != "" {
			if at, err = time.Parse(time.RFC3339, s); err != nil {
				c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": err.Error()})
				return
			}
		}
		cents, err := q.Quote(c.Request.Context(), quote.Ride{Airport: c.Param("airport"), From: c.Query("from"), Persons: persons, At: at})
		if err != nil {
			c.AbortWithStatus(http.StatusBadGateway)
			return
		}
		c.JSON(http.StatusOK, gin.H{"cents": cents, "persons": persons})
	})
	return r.Run(addr)
}
