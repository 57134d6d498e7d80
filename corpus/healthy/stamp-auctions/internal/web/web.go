// Package web is the HTTP side.
package web

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/healthy/stamp-auctions/internal/session"
	"github.com/redline-go/redline/corpus/healthy/stamp-auctions/internal/store"
)

// Engine returns the routes.
func Engine(lots *store.Lots, door *session.Door) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.Use(gin.Recovery())
	e.GET("/livez", func(c *gin.Context) { c.Status(http.StatusOK) })
	g := e.Group("/lots/:lot", func(c *gin.Context) {
		name, ok := door.Bidder(c.GetHeader("X-Bidder"))
		lot, err := strconv.Atoi(c.Param("lot"))
		if !ok || err != nil {
			c.AbortWithStatus(http.StatusUnauthorized)
			return
		}
		c.Set("bidder", name)
		c.Set("lot", lot)
	})
	g.POST("/bids", func(c *gin.Context) {
		cents, err := lots.Bid(c.Request.Context(), c.GetInt("lot"), c.GetString("bidder"))
		if err != nil {
			c.JSON(http.StatusConflict, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusCreated, gin.H{"cents": cents})
	})
	g.GET("/bids", func(c *gin.Context) {
		list, err := lots.Top(c.Request.Context(), c.GetInt("lot"))
		if err != nil {
			c.JSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, list)
	})
	return e
}
