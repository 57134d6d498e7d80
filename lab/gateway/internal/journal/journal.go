// Package journal is the gateway's log of requests and statements, written in
// one of two ways.
//
// The synchronous journal logs what a developer once wanted to see (the request
// with its headers, the reply with its body, each statement), with the caller's
// file and line, and writes each line under a mutex before the request goes on.
// The asynchronous one takes one entry per request into a bounded queue and
// writes from a goroutine of its own; when the queue is full the entry is
// dropped and counted, because a log must never be what a payment waits for.
//
// Neither logs a token: the Authorization header is left out.
package journal

import (
	"net/http"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/rotate"

	"gorm.io/gorm/logger"
)

// fileLimit is where the log file turns over, in bytes.
const fileLimit = 64 << 20

// Entry is one answered request. Header and Body are used during Request only.
type Entry struct {
	Time      time.Time
	RequestID string
	Method    string
	Path      string // without the query
	UserID    int64
	Remote    string
	Status    int
	Bytes     int
	Took      time.Duration
	Header    http.Header // of the request; nil when the journal is not Verbose
	Body      []byte      // of the reply; nil when the journal is not Verbose
}

// Journal takes entries from any goroutine.
type Journal interface {
	// Request logs an answered request.
	Request(e *Entry)
	// Statements returns what traces SQL into this journal, nil for nothing.
	Statements() logger.Interface
	// Close writes what is queued. No other method may be running.
	Close() error
}

// Counter is a journal that can lose entries and counts them.
type Counter interface {
	Dropped() uint64
}

// Verbose reports whether j wants headers and bodies.
func Verbose(j Journal) bool { _, ok := j.(*synchronous); return ok }

// Open logs to gateway.log below dir.
func Open(dir string, async bool) (Journal, error) {
	f, err := rotate.Open(filepath.Join(dir, "gateway.log"), fileLimit)
	if err != nil {
		return nil, err
	}
	if async {
		return newAsynchronous(f), nil
	}
	return newSynchronous(f), nil
}
