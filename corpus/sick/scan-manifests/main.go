// Command scan-manifests stores what hand scanners have read at a loading ramp.
package main

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/corpus/sick/scan-manifests/store"
)

type manifest struct {
	Ramp  string   `json:"ramp" binding:"required"`
	Truck string   `json:"truck" binding:"required"`
	Codes []string `json:"codes" binding:"required,min=1,max=500"`
}

type saver interface {
	Save(ctx context.Context, m store.Manifest) (int, error)
}

func take(s saver) gin.HandlerFunc {
	return func(c *gin.Context) {
		var m manifest
		if err := c.ShouldBindJSON(&m); err != nil {
			c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		full := store.Manifest{ID: uuid.New(), Ramp: m.Ramp, Truck: m.Truck, At: time.Now()}
		seen := map[string]int{}
		for _, code := range m.Codes {
			if seen[code]++; seen[code] == 1 {
				full.Scans = append(full.Scans, store.Scan{Code: code, Kind: store.KindOf(code), Position: len(full.Scans)})
			}
		}
		n, err := s.Save(c.Request.Context(), full)
		if err != nil {
			_ = c.Error(err)
			c.AbortWithStatus(http.StatusInternalServerError)
			return
		}
		c.JSON(http.StatusCreated, gin.H{"manifest": full.ID, "scans": n, "twice": len(m.Codes) - len(full.Scans)})
	}
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		panic(err)
	}
	s := &store.Store{Pool: pool, Whole: os.Getenv("FIXED") == "1"}
	if err := s.Migrate(ctx); err != nil {
		panic(err)
	}
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/ready", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	r.POST("/manifests", take(s))
	if err := r.Run("127.0.0.1:21320"); err != nil {
		panic(err)
	}
}
