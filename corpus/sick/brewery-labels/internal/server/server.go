// Package server has the routes.
package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/brewery-labels/internal/labels"
)

// Labels takes labels.
type Labels interface {
	Submit(ctx context.Context, brewery int, l labels.Label) (labels.Result, error)
}

// New returns the routes.
func New(l Labels, log zerolog.Logger) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.CustomRecovery(func(c *gin.Context, v any) {
		log.Error().Interface("panic", v).Msg("recovered")
		c.AbortWithStatus(http.StatusInternalServerError)
	}))
	r.GET("/ping", func(c *gin.Context) { c.String(http.StatusOK, "pong") })
	v1 := r.Group("/v1")
	v1.POST("/breweries/:brewery/labels", func(c *gin.Context) {
		brewery, err := strconv.Atoi(c.Param("brewery"))
		var in labels.Label
		if err == nil {
			err = c.ShouldBindJSON(&in)
		}
		if err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		res, err := l.Submit(c.Request.Context(), brewery, in)
		switch {
		case errors.Is(err, labels.ErrLabel):
			c.JSON(http.StatusUnprocessableEntity, gin.H{"error": err.Error()})
		case err != nil:
			c.JSON(http.StatusBadGateway, gin.H{"error": "office"})
		default:
			c.JSON(http.StatusOK, res)
		}
	})
	return r
}
