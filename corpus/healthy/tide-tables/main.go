// Command tide-tables answers from a table of almost a million small nodes that
// is never copied. Once a second a goroutine makes a few hundred of them anew,
// and puts them in under a write lock that it holds for some nanoseconds.
package main

import (
	"log"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

type level struct {
	minute int
	metres float32
	next   *level
}

type year map[string][]*level

type almanac struct {
	mu    sync.RWMutex
	tides year
	hits  struct {
		sync.Mutex
		byPort map[string]int
	}
}

func compute(port string, n int) []*level {
	days := make([]*level, n)
	for d := range days {
		for t := range 24 {
			days[d] = &level{t * 60, float32(3 * math.Sin(float64(d*24+t+len(port))/12.4)), days[d]}
		}
	}
	return days
}

func (a *almanac) tide(port string, day int) *level {
	a.hits.Lock()
	a.hits.byPort[port]++
	a.hits.Unlock()
	a.mu.RLock()
	defer a.mu.RUnlock()
	days := a.tides[port]
	if len(days) == 0 {
		return nil
	}
	return days[day%len(days)]
}

func (a *almanac) correct(ports []string) {
	for n := 0; ; n++ {
		time.Sleep(time.Second)
		port := ports[n%len(ports)]
		days := compute(port, 20)
		a.mu.Lock()
		copy(a.tides[port], days)
		a.mu.Unlock()
	}
}

func main() {
	a := &almanac{tides: year{}}
	a.hits.byPort = map[string]int{}
	ports := []string{}
	for p := range 100 {
		name := "port-" + strconv.Itoa(p)
		ports = append(ports, name)
		a.tides[name] = compute(name, 366)
	}
	go a.correct(ports)
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/tides/:port/:day", func(c *gin.Context) {
		day, err := strconv.Atoi(c.Param("day"))
		if err != nil || day < 0 {
			c.Status(http.StatusBadRequest)
			return
		}
		heights := make([]float32, 0, 24)
		for l := a.tide(c.Param("port"), day); l != nil; l = l.next {
			heights = append(heights, l.metres)
		}
		c.JSON(http.StatusOK, gin.H{"port": c.Param("port"), "heights": heights})
	})
	log.Fatal(r.Run("127.0.0.1:9882"))
}
