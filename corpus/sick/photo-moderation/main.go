// Command photo-moderation decides whether photos may be shown.
package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"hash/fnv"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
)

type verdict struct {
	Photo string `json:"photo"`
	Print string `json:"print"`
	Shown bool   `json:"shown"`
}

// moderator fetches a photo's features and compares them with what is banned.
type moderator struct {
	features features
	banned   map[uint64]struct{}
}

func (m *moderator) moderate(ctx context.Context, photo string) (verdict, error) {
	body, err := m.features.Of(ctx, photo)
	if err != nil {
		return verdict{}, err
	}
	h := fnv.New64a()
	_, _ = h.Write(body)
	_, _ = h.Write([]byte(photo))
	print := h.Sum64()
	_, bad := m.banned[print]
	return verdict{
		Photo: photo, Shown: !bad, Print: hex.EncodeToString(binary.BigEndian.AppendUint64(nil, print)),
	}, nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:9206", "where to listen")
	workers := flag.Int("workers", 3, "photos that are moderated at a time")
	queue := flag.Int("queue", 256, "photos that may wait")
	flag.Parse()
	if os.Getenv("FIXED") != "" {
		*workers = 32
	}
	m := &moderator{features: remote(os.Getenv("BACKEND_URL")), banned: map[uint64]struct{}{1: {}}}
	pool := NewPool(*workers, *queue, m.moderate)
	defer pool.Close()

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/health", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	r.POST("/photos/:photo/moderation", func(c *gin.Context) {
		ctx, cancel := context.WithTimeout(c.Request.Context(), 3*time.Second)
		defer cancel()
		v, err := pool.Do(ctx, c.Param("photo"))
		switch {
		case errors.Is(err, ErrBusy):
			c.AbortWithStatus(http.StatusTooManyRequests)
		case err != nil:
			slog.Warn("moderation", "photo", c.Param("photo"), "err", err)
			c.AbortWithStatus(http.StatusBadGateway)
		default:
			c.JSON(http.StatusOK, v)
		}
	})
	if err := r.Run(*addr); err != nil {
		slog.Error("serve", "err", err)
	}
}
