// Command stock-compaction answers how many pieces are in stock. Every half
// second a background task rebuilds the counters from the movements while it
// holds the lock that every answer needs, which makes the tail.
package main

import (
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

type movement struct {
	article uint32
	pieces  int32
}

type warehouse struct {
	lock      sync.Mutex
	movements []movement
	stock     map[uint32]int64
}

func (s *warehouse) pieces(article uint32) int64 {
	s.lock.Lock()
	n := s.stock[article]
	s.lock.Unlock()
	return n
}

func (s *warehouse) compact() {
	s.lock.Lock()
	defer s.lock.Unlock()
	fresh := make(map[uint32]int64, len(s.stock))
	for range 3 {
		for _, m := range s.movements {
			fresh[m.article] += int64(m.pieces)
		}
	}
	s.stock = fresh
}

func (s *warehouse) compactEvery(pause time.Duration) {
	for range time.Tick(pause) {
		s.compact()
	}
}

func main() {
	s := &warehouse{stock: map[uint32]int64{}}
	for i := range 900_000 {
		s.movements = append(s.movements, movement{uint32(i*2654435761) % 30_000, int32(i%7) - 2})
	}
	s.compact()
	go s.compactEvery(500 * time.Millisecond)
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/stock/:article", func(c echo.Context) error {
		var n uint32
		for _, digit := range c.Param("article") {
			n = 10*n + uint32(digit-'0')
		}
		return c.JSON(http.StatusOK, echo.Map{"article": n, "pieces": s.pieces(n)})
	})
	log.Fatal(e.Start("127.0.0.1:9403"))
}
