// Package middleware holds what happens around every handler: identity, log,
// headers, audit, metrics, limits, authentication. Each piece is a function of
// its dependencies; package api decides which route gets which.
package middleware

import (
	"time"

	// Gin is the router of the services that this one stands for.
	"github.com/gin-gonic/gin"
)

// Exchange is what the pieces know of one request. It belongs to the request's
// goroutine.
type Exchange struct {
	Start     time.Time
	RequestID string
	UserID    int64 // 0 until authenticated
	Risk      int   // -1 until scored
	Digest    string
}

const exchangeKey = "exchange"

// Of returns the exchange that Identify or IdentifyCheaply began.
func Of(c *gin.Context) *Exchange { return c.MustGet(exchangeKey).(*Exchange) }

// begin puts a new exchange into the context.
func begin(c *gin.Context, id string) *Exchange {
	x := &Exchange{Start: time.Now(), RequestID: id, Risk: -1}
	c.Set(exchangeKey, x)
	return x
}

// Fail answers a request with an API error and ends its chain.
type Fail func(c *gin.Context, status, code int, message string)
