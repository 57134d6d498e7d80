// Command mailing-merge merges lists of recipients and drops those that occur
// twice.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/gin-gonic/gin"
)

type recipient struct {
	list, number int
	mail         string
}

func same(a, b recipient) bool { return a.number == b.number && a.mail == b.mail }

func unique[T any](in, out []T, equal func(a, b T) bool) []T {
next:
	for _, v := range in {
		for _, kept := range out {
			if equal(v, kept) {
				continue next
			}
		}
		out = append(out, v)
	}
	return out
}

func main() {
	all := make([]recipient, 900)
	for i := range all {
		all[i] = recipient{i % 4, i % 700, fmt.Sprintf("r%d@example.org", i%700)}
	}
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.GET("/merge", func(c *gin.Context) {
		out := unique(all, make([]recipient, 0, len(all)), same)
		c.String(http.StatusOK, "%d", len(out))
	})
	e.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusOK) })
	log.Fatal(e.Run("127.0.0.1:9721"))
}
