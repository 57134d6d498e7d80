// Package rest is the HTTP side.
package rest

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/sick/ward-timeline/chart"
)

type query struct {
	Page    int   `form:"page" binding:"min=0,max=100"`
	Without int32 `form:"without" binding:"min=0,max=8"`
}

// Engine returns the routes.
func Engine(v *chart.View) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.Use(gin.Recovery())
	e.GET("/livez", func(c *gin.Context) { c.String(http.StatusOK, "ok") })
	e.GET("/beds/:bed/timeline", func(c *gin.Context) {
		var q query
		if err := c.ShouldBindQuery(&q); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		bed, err := strconv.Atoi(c.Param("bed"))
		if err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		page, err := v.Page(bed, q.Page, q.Without)
		if err != nil {
			c.JSON(http.StatusNotFound, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, gin.H{"bed": bed, "events": page})
	})
	return e
}
