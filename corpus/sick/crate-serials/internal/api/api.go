// Package api has the routes.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/sick/crate-serials/internal/hall"
)

// Packer packs crates.
type Packer interface {
	Pack(ctx context.Context, hall int, c hall.Crate) (hall.Label, error)
}

// New returns the routes.
func New(p Packer) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/up", func(c *gin.Context) { c.Status(http.StatusOK) })
	r.POST("/halls/:hall/crates", func(c *gin.Context) {
		no, err := strconv.Atoi(c.Param("hall"))
		var in hall.Crate
		if err == nil {
			err = c.ShouldBindJSON(&in)
		}
		if err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		label, err := p.Pack(c.Request.Context(), no, in)
		if err != nil {
			slog.Error("pack", "hall", no, "err", err)
			c.JSON(http.StatusInternalServerError, gin.H{"error": "pack"})
			return
		}
		c.JSON(http.StatusOK, label)
	})
	return r
}
