// Package api has the routes.
package api

import (
	"bytes"
	"compress/zlib"
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/healthy/rain-mosaic/internal/mosaic"
)

// Source has the latest picture.
type Source interface{ Now() *mosaic.Picture }

type scratch struct {
	points []byte
	out    bytes.Buffer
	zip    *zlib.Writer
}

var pool = sync.Pool{New: func() any {
	s := &scratch{points: make([]byte, 0, mosaic.Side*mosaic.Side)}
	s.zip, _ = zlib.NewWriterLevel(&s.out, zlib.BestSpeed)
	return s
}}

// New returns the routes.
func New(src Source) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/ok", func(c *gin.Context) { c.Status(http.StatusOK) })
	r.GET("/squares/:x/:y", func(c *gin.Context) {
		x, err1 := strconv.Atoi(c.Param("x"))
		y, err2 := strconv.Atoi(c.Param("y"))
		if err1 != nil || err2 != nil {
			c.AbortWithStatus(http.StatusBadRequest)
			return
		}
		pic := src.Now()
		tag := `"` + strconv.FormatInt(pic.Version, 10) + `"`
		if c.GetHeader("If-None-Match") == tag {
			c.Status(http.StatusNotModified)
			return
		}
		s := pool.Get().(*scratch)
		defer pool.Put(s)
		points, err := pic.Square(x, y, s.points)
		if err != nil {
			c.AbortWithStatus(http.StatusNotFound)
			return
		}
		s.out.Reset()
		s.zip.Reset(&s.out)
		if _, err = s.zip.Write(points); err == nil {
			err = s.zip.Close()
		}
		if err != nil {
			c.AbortWithStatus(http.StatusInternalServerError)
			return
		}
		c.Header("ETag", tag)
		c.Header("Content-Encoding", "deflate")
		c.Data(http.StatusOK, "application/octet-stream", s.out.Bytes())
	})
	return r
}
