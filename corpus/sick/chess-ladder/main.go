// Command chess-ladder shows the first ten players of a ladder.
package main

import (
	"log"
	"net/http"
	"sort"

	"github.com/gin-gonic/gin"
)

type player struct {
	name   string
	rating int
	games  int
}

type ladder []player

func (l ladder) top(n int) []player {
	byRating := make([]player, len(l))
	copy(byRating, l)
	sort.Slice(byRating, func(i, j int) bool {
		if byRating[i].rating != byRating[j].rating {
			return byRating[i].rating > byRating[j].rating
		}
		return byRating[i].games < byRating[j].games
	})
	return byRating[:n]
}

func main() {
	l := make(ladder, 3000)
	for i := range l {
		l[i] = player{"player", 1000 + i*7919%1700, i % 90}
	}
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.GET("/top", func(c *gin.Context) {
		for _, p := range l.top(10) {
			c.Writer.WriteString(p.name)
		}
	})
	e.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusOK) })
	log.Fatal(e.Run("127.0.0.1:9715"))
}
