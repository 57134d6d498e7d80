package journal

import (
	"log"
	"sort"
	"strings"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/rotate"

	"gorm.io/gorm/logger"
)

// synchronous writes several lines per request, each under the logger's mutex
// and with a system call of its own.
type synchronous struct {
	file *rotate.File
	log  *log.Logger
}

func newSynchronous(f *rotate.File) *synchronous {
	return &synchronous{file: f, log: log.New(f, "gateway ", log.LstdFlags|log.Lmicroseconds|log.Llongfile|log.LUTC)}
}

func (s *synchronous) Request(e *Entry) {
	s.log.Printf("INFO [%s] request %s %s from %s user=%d", e.RequestID, e.Method, e.Path, e.Remote, e.UserID)
	s.log.Printf("DEBUG [%s] headers %v", e.RequestID, printable(e))
	s.log.Printf("DEBUG [%s] response body %q", e.RequestID, e.Body)
	s.log.Printf("INFO [%s] response %d, %d bytes in %v", e.RequestID, e.Status, e.Bytes, e.Took)
}

// printable renders headers in a stable order, without the token.
func printable(e *Entry) string {
	names := make([]string, 0, len(e.Header))
	for name := range e.Header {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		value := strings.Join(e.Header[name], ", ")
		if name == "Authorization" || name == "Cookie" {
			value = "(hidden)"
		}
		b.WriteString(name + ": " + value + "; ")
	}
	return b.String()
}

// Statements traces every statement with its values and its caller, as
// db.Debug() does. The values are ours to log: no statement carries a secret.
func (s *synchronous) Statements() logger.Interface {
	return logger.New(s.log, logger.Config{LogLevel: logger.Info, SlowThreshold: 200 * time.Millisecond, IgnoreRecordNotFoundError: true})
}

func (s *synchronous) Close() error { return s.file.Close() }
