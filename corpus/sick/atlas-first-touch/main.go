// Command atlas-first-touch serves map tiles that it fetches from a slow
// archive when they are first asked for. The measurement begins without
// a single tile, so that its first seconds are far slower than the rest.
package main

import (
	"fmt"
	"log"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

const tiles = 420

type tile struct {
	once sync.Once
	data []byte
}

type atlas [tiles]tile

// fetch gets a tile out of the archive, whose robot takes its time.
func fetch(number int) []byte {
	time.Sleep(12 * time.Millisecond)
	heights := make([]byte, 64*64)
	for i := range heights {
		heights[i] = byte(i*number>>5 ^ i)
	}
	return heights
}

func (a *atlas) tile(c echo.Context) error {
	number, err := strconv.Atoi(c.Param("number"))
	if err != nil || number < 0 || number >= tiles {
		return echo.NewHTTPError(http.StatusNotFound, fmt.Sprintf("there are %d tiles", tiles))
	}
	t := &a[number]
	t.once.Do(func() { t.data = fetch(number) })
	return c.Blob(http.StatusOK, "application/octet-stream", t.data)
}

func main() {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	a := &atlas{}
	e.GET("/up", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	e.GET("/tiles/:number", a.tile)
	log.Fatal(e.Start("127.0.0.1:9315"))
}
