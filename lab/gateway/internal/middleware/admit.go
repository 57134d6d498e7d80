package middleware

import (
	"net/http"
	"time"

	// semaphore is the weighted semaphore that services put around handlers.
	"golang.org/x/sync/semaphore"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/lab/gateway/internal/auth"
	"github.com/redline-go/redline/lab/gateway/internal/ratelimit"
)

// Limit lets at most so many requests on at once; others wait until their
// caller gives up.
func Limit(workers int, fail Fail) gin.HandlerFunc {
	slots := semaphore.NewWeighted(int64(workers))
	return func(c *gin.Context) {
		if err := slots.Acquire(c.Request.Context(), 1); err != nil {
			fail(c, http.StatusServiceUnavailable, 50301, "the service is busy")
			return
		}
		defer slots.Release(1)
		c.Next()
	}
}

// Authenticate wants a user's token.
func Authenticate(keeper *auth.Keeper, fail Fail) gin.HandlerFunc {
	return func(c *gin.Context) {
		user, err := keeper.User(c.GetHeader("Authorization"))
		if err != nil {
			c.Header("WWW-Authenticate", "Bearer")
			// Why a token is refused is not the caller's to know.
			fail(c, http.StatusUnauthorized, 40101, auth.ErrInvalid.Error())
			return
		}
		Of(c).UserID = user
	}
}

// RateLimit refuses users who ask too often.
func RateLimit(table ratelimit.Table, fail Fail) gin.HandlerFunc {
	return func(c *gin.Context) {
		if !table.Allow(Of(c).UserID, time.Now()) {
			c.Header("Retry-After", "1")
			fail(c, http.StatusTooManyRequests, 42901, "too many requests")
		}
	}
}
