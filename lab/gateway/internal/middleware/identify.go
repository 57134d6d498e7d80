package middleware

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/gin-gonic/gin"
)

// The header that carries a request's id, in its canonical form.
const requestIDHeader = "X-Request-Id"

// Identify begins the exchange with the caller's request id, or a random UUID.
func Identify(valid func(string) bool) gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.GetHeader(requestIDHeader)
		if id == "" || !valid(id) {
			id = uuid()
		}
		begin(c, id)
		c.Header(requestIDHeader, id)
	}
}

// uuid returns a version 4 UUID (RFC 9562, section 5.4).
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (since Go 1.24)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// IdentifyCheaply begins the exchange with the caller's request id, or a
// random prefix of this process and a number.
func IdentifyCheaply(valid func(string) bool) gin.HandlerFunc {
	var random [6]byte
	_, _ = rand.Read(random[:])
	prefix := hex.EncodeToString(random[:]) + "-"
	var number atomic.Uint64
	return func(c *gin.Context) {
		var id string
		if given := c.Request.Header[requestIDHeader]; len(given) == 1 && valid(given[0]) {
			id = given[0]
		} else {
			id = prefix + strconv.FormatUint(number.Add(1), 10)
		}
		begin(c, id)
		c.Writer.Header()[requestIDHeader] = []string{id}
	}
}

// Recover answers a panicking handler with 500 and hands it to report.
func Recover(fail Fail, report func(c *gin.Context, panicked any)) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p) // net/http's own way to cut a connection
			}
			report(c, p)
			fail(c, http.StatusInternalServerError, 50000, "internal error")
		}()
		c.Next()
	}
}
