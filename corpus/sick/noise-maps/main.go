// Command noise-maps draws how loud it is around a road. Every tile takes new grids for
// its computation, a megabyte in all, of which little is kept.
package main

import (
	"bytes"
	"encoding/binary"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

const side = 256

type source struct {
	x, y  int
	level float32
}

// layer is a grid of levels, row by row.
type layer [][]float32

func newLayer() layer {
	l := make(layer, side)
	for y := range l {
		l[y] = make([]float32, side)
	}
	return l
}

// spread puts the level of a source into the cells of its row and column.
func (l layer) spread(s source) {
	for d := range 24 {
		loss := float32(d) * 0.7
		l[s.y][(s.x+d)%side] += s.level - loss
		l[(s.y+d)%side][s.x] += s.level - loss
	}
}

func (l layer) loudest() (max float32) {
	for y := 0; y < side; y += 16 {
		for x := 0; x < side; x += 16 {
			if l[y][x] > max {
				max = l[y][x]
			}
		}
	}
	return max
}

type tile struct {
	zoom, x, y int
}

func (t tile) sources() []source {
	s := make([]source, 0, 12)
	for i := range 12 {
		s = append(s, source{(t.x*31 + i*17) % side, (t.y*13 + i*29) % side, float32(50 + (t.zoom+i)%30)})
	}
	return s
}

// draw computes the tile four times, each time in a new layer.
func (t tile) draw() []byte {
	var out bytes.Buffer
	for range 4 {
		grid := newLayer()
		for _, s := range t.sources() {
			grid.spread(s)
		}
		_ = binary.Write(&out, binary.LittleEndian, grid.loudest())
	}
	return out.Bytes()
}

func main() {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover())
	e.GET("/health", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/noise/:z/:x/:y", func(c echo.Context) error {
		var n [3]int
		for i, name := range []string{"z", "x", "y"} {
			v, err := strconv.Atoi(c.Param(name))
			if err != nil || v < 0 {
				return echo.NewHTTPError(http.StatusBadRequest, name)
			}
			n[i] = v
		}
		return c.Blob(http.StatusOK, "application/octet-stream", tile{n[0], n[1], n[2]}.draw())
	})
	if err := e.Start("127.0.0.1:9867"); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}
