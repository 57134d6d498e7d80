// Package handlers takes what scales below bee hives send.
package handlers

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/sick/hive-scales/ent"
)

// Save stores weights.
type Save func(ctx context.Context, c *ent.WeightClient, list []*ent.WeightCreate) ([]*ent.Weight, error)

// Each stores one weight after the other.
func Each(ctx context.Context, _ *ent.WeightClient, list []*ent.WeightCreate) ([]*ent.Weight, error) {
	out := make([]*ent.Weight, 0, len(list))
	for _, b := range list {
		w, err := b.Save(ctx)
		if err != nil {
			return out, err
		}
		out = append(out, w)
	}
	return out, nil
}

// Bulk stores all weights or none.
func Bulk(ctx context.Context, c *ent.WeightClient, list []*ent.WeightCreate) ([]*ent.Weight, error) {
	return c.CreateBulk(list...).Save(ctx)
}

type sample struct {
	At      int64   `json:"at" binding:"required"`
	Grams   int64   `json:"grams" binding:"required,min=1,max=200000"`
	Celsius float64 `json:"celsius" binding:"min=-60,max=80"`
}

type upload struct {
	Firmware string   `json:"firmware" binding:"required"`
	Samples  []sample `json:"samples" binding:"required,min=1,max=500,dive"`
}

// Engine routes to the handlers.
func Engine(client *ent.Client, save Save) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/livez", func(c *gin.Context) { c.String(http.StatusOK, "ok") })
	hives := r.Group("/hives/:hive", scale(client))
	hives.POST("/weights", func(c *gin.Context) {
		var u upload
		if err := c.ShouldBindJSON(&u); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		h := c.MustGet("hive").(*ent.Hive)
		list := make([]*ent.WeightCreate, len(u.Samples))
		for i, s := range u.Samples {
			list[i] = client.Weight.Create().SetHiveID(h.ID).SetTakenAt(time.Unix(s.At,
				0)).SetGrams(s.Grams).SetCelsius(s.Celsius).SetSource("scale/" + u.Firmware)
		}
		stored, err := save(c, client.Weight, list)
		var invalid *ent.ValidationError
		if errors.As(err, &invalid) {
			c.JSON(http.StatusUnprocessableEntity, gin.H{"error": err.Error()})
			return
		}
		if err != nil {
			_ = c.Error(err)
			c.JSON(http.StatusInternalServerError, gin.H{"error": "database"})
			return
		}
		last := stored[len(stored)-1]
		c.JSON(http.StatusCreated, gin.H{"hive": h.Name, "stored": len(stored), "until": last.TakenAt.UTC(), "grams": last.Grams})
	})
	return r
}

// scale finds the hive of a request and checks the key of its scale.
func scale(client *ent.Client) gin.HandlerFunc {
	return func(c *gin.Context) {
		id, err := strconv.ParseInt(c.Param("hive"), 10, 64)
		if err != nil {
			c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": "hive"})
			return
		}
		h, err := client.Hive.Get(c, id)
		var missing *ent.NotFoundError
		switch {
		case errors.As(err, &missing):
			c.AbortWithStatusJSON(http.StatusNotFound, gin.H{"error": err.Error()})
			return
		case err != nil:
			c.AbortWithStatusJSON(http.StatusInternalServerError, gin.H{"error": "database"})
			return
		}
		if subtle.ConstantTimeCompare([]byte(c.GetHeader("X-Scale-Key")), []byte(h.Key)) != 1 {
			c.AbortWithStatusJSON(http.StatusForbidden, gin.H{"error": "key"})
			return
		}
		c.Set("hive", h)
	}
}
