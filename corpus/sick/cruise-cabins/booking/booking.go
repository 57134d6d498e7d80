// Package booking is the interface for travel agents.
package booking

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/cruise-cabins/lines"
)

// Searcher finds cabins.
type Searcher interface {
	Cabins(ctx context.Context, v lines.Voyage) ([]lines.Cabin, error)
}

type query struct {
	Port   string `form:"port" binding:"required,alpha,max=20"`
	Week   int    `form:"week" binding:"required,min=1,max=52"`
	Guests int    `form:"guests" binding:"omitempty,min=1,max=6"`
	Limit  int    `form:"limit" binding:"omitempty,min=1,max=50"`
}

// Router makes the routes.
func Router(s Searcher, log *logrus.Logger) http.Handler {
	r := gin.New()
	r.Use(gin.Recovery(), numbered(), within(2*time.Second), logged(log))
	r.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	v1 := r.Group("/v1")
	v1.GET("/cabins", func(c *gin.Context) {
		q := query{Guests: 2, Limit: 6}
		if err := c.ShouldBindQuery(&q); err != nil {
			c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		cabins, err := s.Cabins(c.Request.Context(), lines.Voyage{Port: q.Port, Week: q.Week, Guests: q.Guests})
		if err != nil {
			_ = c.Error(err)
			c.AbortWithStatusJSON(http.StatusBadGateway, gin.H{"error": "no line answers"})
			return
		}
		slices.SortFunc(cabins, func(a, b lines.Cabin) int { return a.Euros - b.Euros })
		c.JSON(http.StatusOK, gin.H{"cabins": cabins[:min(len(cabins), q.Limit)], "of": len(cabins)})
	})
	return r
}

func numbered() gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.GetHeader("X-Request-Id")
		if id == "" {
			id = uuid.NewString()
		}
		c.Set("id", id)
		c.Header("X-Request-Id", id)
		c.Next()
	}
}

func within(d time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, cancel := context.WithTimeout(c.Request.Context(), d)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
		c.Next()
	}
}

func logged(log *logrus.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		began := time.Now()
		c.Next()
		if len(c.Errors) > 0 || c.Writer.Status() >= http.StatusInternalServerError {
			log.WithFields(logrus.Fields{
				"id": c.GetString("id"), "status": c.Writer.Status(), "took": time.Since(began), "errors": c.Errors.String(),
			}).Warn("request")
		}
	}
}
