package middleware

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// CORS answers preflights and names what browsers of any origin may do.
func CORS() gin.HandlerFunc {
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Methods", strings.Join([]string{"GET", "POST", "OPTIONS"}, ", "))
		h.Set("Access-Control-Allow-Headers",
			strings.Join([]string{"Authorization", "Content-Type", "Idempotency-Key", requestIDHeader}, ", "))
		h.Set("Access-Control-Max-Age", "600")
		h.Add("Vary", "Origin")
		if c.Request.Method == http.MethodOptions {
			c.AbortWithStatus(http.StatusNoContent)
		}
	}
}

// SecureHeaders sets what a scanner for web sites asks for, on every reply.
func SecureHeaders() gin.HandlerFunc {
	return func(c *gin.Context) {
		for name, value := range map[string]string{
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"X-XSS-Protection":             "0",
			"Referrer-Policy":              "no-referrer",
			"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
			"Strict-Transport-Security":    "max-age=31536000; includeSubDomains",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Permissions-Policy":           "geolocation=(), camera=(), microphone=()",
			"Cache-Control":                "no-store",
		} {
			c.Header(name, value)
		}
	}
}

// noSniff and noStore are shared by all replies: net/http only reads them.
var (
	noSniff = []string{"nosniff"}
	noStore = []string{"no-store"}
)

// APIHeaders sets what matters to a reply that is JSON and no page.
func APIHeaders() gin.HandlerFunc {
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h["X-Content-Type-Options"] = noSniff
		h["Cache-Control"] = noStore
	}
}
