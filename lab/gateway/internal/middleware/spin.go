package middleware

import (
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/lab/gateway/internal/spin"
)

// spun keeps the last result of a spin, so that the compiler cannot drop it.
var spun atomic.Uint64

// Spin adds a fixed amount of work to every request.
func Spin(rounds spin.Rounds) gin.HandlerFunc {
	return func(c *gin.Context) {
		if x := rounds.Do(); x == 0 { // it never is
			spun.Store(x)
		}
		c.Next()
	}
}
