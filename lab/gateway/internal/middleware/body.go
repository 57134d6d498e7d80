package middleware

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/lab/gateway/internal/audit"
	"github.com/redline-go/redline/lab/gateway/internal/buffer"
)

// BodyLimit is the largest request body, in bytes.
const BodyLimit = 16 << 10

// DigestBodies keeps copies of request and reply to take their digest for the
// audit trail.
func DigestBodies(buffers *buffer.Source, fail Fail) gin.HandlerFunc {
	return func(c *gin.Context) {
		request := buffers.Get()
		defer buffers.Put(request)
		if c.Request.Body != nil && c.Request.Body != http.NoBody {
			_, err := request.ReadFrom(http.MaxBytesReader(c.Writer, c.Request.Body, BodyLimit))
			if err != nil {
				FailBody(c, err, fail)
				return
			}
			c.Request.Body = io.NopCloser(bytes.NewReader(request.Bytes()))
		}
		w := &capture{c.Writer, buffers.Get()}
		defer buffers.Put(w.body)
		c.Writer = w
		c.Next()
		c.Writer = w.ResponseWriter
		h := sha256.New()
		h.Write(request.Bytes())
		h.Write(w.body.Bytes())
		Of(c).Digest = hex.EncodeToString(h.Sum(nil))
	}
}

// FailBody answers a request whose body could not be read.
func FailBody(c *gin.Context, err error, fail Fail) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		fail(c, http.StatusRequestEntityTooLarge, 41301, "the body is too large")
		return
	}
	fail(c, http.StatusBadRequest, 40002, "the body cannot be read")
}

// Audit hands each access to the trail, before its reply is complete. It stands
// outside DigestBodies, whose digest it records.
func Audit(trail *audit.Trail, action string) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Next()
		x := Of(c)
		trail.Record(audit.Record{
			Time: x.Start, RequestID: x.RequestID, Action: action, UserID: x.UserID,
			Status: c.Writer.Status(), Risk: x.Risk, Digest: x.Digest,
		})
	}
}
