// Package audit keeps the trail of who saw or moved what, as payment services
// must: append-only, chained by hash so that a removed line shows, flushed to
// the disk, and never dropped. One goroutine owns the chain; requests hand it
// their records through a channel.
//
// The two trails differ in how that goroutine works. The one as it is found
// writes and flushes record by record behind a channel of one place, so that
// every request queues for the disk. The batched one takes what is there, writes
// and flushes it once, and has room for the records of the next moment.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/rotate"
)

const (
	fileLimit  = 64 << 20
	batchSlots = 8192
	batchMost  = 1024
	// batchPause is the least time between two flushes: a crash may lose as much.
	batchPause = 20 * time.Millisecond
)

// Record is one access.
type Record struct {
	Time      time.Time
	RequestID string
	Action    string // method and route
	UserID    int64
	Status    int
	Risk      int    // score of the risk service, -1 when it was not asked
	Digest    string // hexadecimal SHA-256 of request and reply, empty when not taken
}

// Trail is an open audit trail.
type Trail struct {
	file    *rotate.File
	records chan Record
	done    chan error
	log     *slog.Logger
	first   error // of writing
	chain   [sha256.Size]byte
	buf     []byte
}

// Open writes to audit.log below dir, in groups or record by record. The first error of writing goes to the log at once.
func Open(dir string, batched bool, log *slog.Logger) (*Trail, error) {
	f, err := rotate.Open(filepath.Join(dir, "audit.log"), fileLimit)
	if err != nil {
		return nil, fmt.Errorf("open the audit trail: %w", err)
	}
	t := &Trail{file: f, done: make(chan error, 1), log: log}
	if batched {
		t.records = make(chan Record, batchSlots)
		go t.consumeBatches()
	} else {
		t.records = make(chan Record, 1)
		go t.consumeEach()
	}
	return t, nil
}

// Record hands a record over, and waits while the channel is full.
func (t *Trail) Record(r Record) { t.records <- r }

// Close writes what is left. Record must not be called again. The error is the
// first that occurred in writing.
func (t *Trail) Close() error {
	close(t.records)
	return errors.Join(<-t.done, t.file.Close())
}

// consumeEach writes and flushes each record by itself.
func (t *Trail) consumeEach() {
	for r := range t.records {
		t.add(&r)
		t.flush()
	}
	t.done <- t.first
}

// consumeBatches writes and flushes what has gathered.
func (t *Trail) consumeBatches() {
	for r := range t.records {
		t.add(&r)
		open := t.gather()
		t.flush()
		if open {
			// Not in any request's path: requests find room in the channel.
			time.Sleep(batchPause)
		}
	}
	t.done <- t.first
}

// gather adds what is in the channel now, and reports whether it is open.
func (t *Trail) gather() bool {
	for range batchMost {
		select {
		case r, ok := <-t.records:
			if !ok {
				return false
			}
			t.add(&r)
		default:
			return true
		}
	}
	return true
}

// add appends a record's line, which ends with the hash of the line and the
// hash before it.
func (t *Trail) add(r *Record) {
	start := len(t.buf)
	b := r.Time.UTC().AppendFormat(t.buf, time.RFC3339Nano)
	b = append(append(b, ' '), r.RequestID...)
	b = append(append(b, ' '), r.Action...)
	b = strconv.AppendInt(append(b, " user="...), r.UserID, 10)
	b = strconv.AppendInt(append(b, " status="...), int64(r.Status), 10)
	b = strconv.AppendInt(append(b, " risk="...), int64(r.Risk), 10)
	b = append(append(b, " digest="...), r.Digest...)
	b = hex.AppendEncode(append(b, " before="...), t.chain[:])
	t.chain = sha256.Sum256(b[start:])
	t.buf = append(b, '\n')
}

func (t *Trail) flush() {
	_, err := t.file.Write(t.buf)
	t.buf = t.buf[:0]
	// A file that could not turn over has the lines all the same.
	if err = errors.Join(err, t.file.Sync()); err != nil && t.first == nil {
		t.first = fmt.Errorf("write the audit trail: %w", err)
		t.log.Error(t.first.Error())
	}
}
