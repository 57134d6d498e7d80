package middleware

import (
	"bytes"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/lab/gateway/internal/buffer"
	"github.com/redline-go/redline/lab/gateway/internal/journal"
)

// capture is a response writer that keeps a copy of the body.
type capture struct {
	gin.ResponseWriter
	body *bytes.Buffer
}

func (w *capture) Write(p []byte) (int, error) {
	w.body.Write(p)
	return w.ResponseWriter.Write(p)
}

func (w *capture) WriteString(s string) (int, error) {
	w.body.WriteString(s)
	return w.ResponseWriter.WriteString(s)
}

// Log writes each request to the journal, with headers and body where the
// journal wants them.
func Log(j journal.Journal, buffers *buffer.Source) gin.HandlerFunc {
	verbose := journal.Verbose(j)
	return func(c *gin.Context) {
		e := journal.Entry{Method: c.Request.Method, Path: c.Request.URL.Path, Remote: c.Request.RemoteAddr}
		if verbose {
			w := &capture{c.Writer, buffers.Get()}
			defer buffers.Put(w.body)
			c.Writer = w
			c.Next()
			c.Writer = w.ResponseWriter
			e.Header, e.Body = c.Request.Header, w.body.Bytes()
		} else {
			c.Next()
		}
		x := Of(c)
		e.Time, e.RequestID, e.UserID = x.Start, x.RequestID, x.UserID
		e.Status, e.Bytes, e.Took = c.Writer.Status(), c.Writer.Size(), time.Since(x.Start)
		j.Request(&e)
	}
}
