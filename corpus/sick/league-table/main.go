// Command league-table serves standings that it keeps for 150 ms. When they have
// expired everybody waits for the one request that computes them anew, which
// takes longer than they are kept.
package main

import (
	"log"
	"math"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/singleflight"
)

type standing struct {
	Club   int     `json:"club"`
	Rating float64 `json:"rating"`
}

type table struct {
	rows []standing
	till time.Time
}

type league struct {
	group   singleflight.Group
	current atomic.Pointer[table]
	results [][3]int
}

func (l *league) rate() []standing {
	ratings := make([]float64, 200)
	for range 40 {
		for _, r := range l.results {
			expected := 1 / (1 + math.Exp((ratings[r[1]]-ratings[r[0]])/400))
			ratings[r[0]] += 2 * (float64(r[2]) - expected)
			ratings[r[1]] -= 2 * (float64(r[2]) - expected)
		}
	}
	rows := make([]standing, len(ratings))
	for i, r := range ratings {
		rows[i] = standing{i, r}
	}
	slices.SortFunc(rows, func(a, b standing) int { return int(b.Rating - a.Rating) })
	return rows[:20]
}

func (l *league) standings() []standing {
	if t := l.current.Load(); t != nil && time.Now().Before(t.till) {
		return t.rows
	}
	rows, _, _ := l.group.Do("standings", func() (any, error) {
		rows := l.rate()
		l.current.Store(&table{rows, time.Now().Add(150 * time.Millisecond)})
		return rows, nil
	})
	return rows.([]standing)
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	l := &league{}
	for i := range 200_000 {
		home := i * 7919 % 200
		l.results = append(l.results, [3]int{home, (home + 1 + i%199) % 200, i % 2})
	}
	r := gin.New()
	r.GET("/standings", func(c *gin.Context) { c.JSON(http.StatusOK, l.standings()) })
	log.Fatal(r.Run("127.0.0.1:9411"))
}
