// Package api is the HTTP side.
package api

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/sick/notice-redaction/internal/redact"
	"github.com/redline-go/redline/corpus/sick/notice-redaction/internal/rules"
)

type notice struct {
	Title string `json:"title" binding:"required"`
	Text  string `json:"text" binding:"required,max=20000"`
}

type cleaned struct {
	Title string         `json:"title"`
	Text  string         `json:"text"`
	Found map[string]int `json:"found"`
}

// New returns the routes.
func New(log *slog.Logger, source redact.Source) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery(), slow(log, 250*time.Millisecond))
	r.GET("/live", func(c *gin.Context) { c.Status(http.StatusOK) })
	r.POST("/councils/:council/notices", func(c *gin.Context) {
		council, err := strconv.Atoi(c.Param("council"))
		if err != nil {
			c.AbortWithStatus(http.StatusBadRequest)
			return
		}
		var in notice
		if err := c.ShouldBindJSON(&in); err != nil {
			c.AbortWithStatusJSON(http.StatusUnprocessableEntity, gin.H{"error": err.Error()})
			return
		}
		red, err := source.For(council)
		if errors.Is(err, rules.ErrCouncil) {
			c.AbortWithStatus(http.StatusNotFound)
			return
		}
		if err != nil {
			log.Error("rules", "council", council, "err", err)
			c.AbortWithStatus(http.StatusInternalServerError)
			return
		}
		out := cleaned{Title: in.Title}
		out.Text, out.Found = red.Clean(in.Text)
		c.JSON(http.StatusOK, out)
	})
	return r
}

func slow(log *slog.Logger, after time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		c.Next()
		if d := time.Since(start); d > after {
			log.Warn("slow", "path", c.FullPath(), "took", d)
		}
	}
}
