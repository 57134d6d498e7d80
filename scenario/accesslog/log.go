// Package accesslog reads the requests of an access log for replay, in nginx's
// combined format or as JSON lines. Errors quote nothing of a line, because logs
// hold secrets.
package accesslog

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/jsonlines"
)

// MaxLog is the size of the largest log to replay, in bytes.
const MaxLog = 256 << 20

// Entry is one request of a log.
type Entry struct {
	At      int64  // Unix time, ns
	Method  string // upper case
	Path    string // path and query without the first slash, fit for a URL
	Body    string
	Headers []Header // by name
}

// Header is a header that a log has of a request; its name is canonical.
type Header struct{ Name, Value string }

// Log holds a log's requests, in the log's order.
type Log struct {
	Entries   []Entry
	Lines     int // not counting blank ones
	Malformed int
	First     error  // of the malformed lines
	Left      counts // that are not to be sent
}

// errMethod quotes nothing of the line, like all errors of a line: a warning may
// contain them, and logs hold secrets.
var errMethod = errors.New("its method is not valid")

// lineParser is a format of a log: from one line to its request.
type lineParser func(line []byte) (Entry, error)

var logFormats = map[string]lineParser{"combined": parseCombined, "jsonl": parseLogLine}

// Read reads a log of a format, "combined" or "jsonl", of at most MaxLog bytes
// and MaxRows requests. methods names those to keep; none keeps the safe ones. Lines that cannot be read are counted;
// more than one in a hundred is an error, because the file then has another
// format.
func Read(r io.Reader, format string, methods []string) (*Log, error) {
	parse := logFormats[format]
	log := &Log{Left: counts{}}
	keep := methods
	if len(keep) == 0 {
		keep = safeMethods
	}
	err := jsonlines.Each(r, MaxLog, func(number int, line []byte) error {
		log.Lines++
		e, err := parse(line)
		if err != nil {
			if log.Malformed++; log.First == nil {
				log.First = fmt.Errorf("line %d: %w", number, err)
			}
			return nil
		}
		if does := e.Does(); !slices.Contains(keep, does) {
			log.Left[does]++
			return nil
		}
		if len(log.Entries) >= feeder.MaxRows {
			return fmt.Errorf("more than %d requests", feeder.MaxRows)
		}
		log.Entries = append(log.Entries, e)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case log.Malformed*100 > log.Lines:
		return nil, fmt.Errorf("%w (%d of %d lines cannot be read, and 1 %% may)", log.First, log.Malformed, log.Lines)
	case len(log.Entries) == 0:
		return nil, log.none(methods)
	}
	return log, nil
}

// Spread sorts the entries by time. If the log has only whole seconds, it spreads
// the requests of each second evenly, in the log's order.
func (l *Log) Spread() {
	slices.SortStableFunc(l.Entries, func(a, b Entry) int {
		if a.At < b.At {
			return -1
		} else if a.At > b.At {
			return 1
		}
		return 0
	})
	for _, e := range l.Entries {
		if e.At%int64(time.Second) != 0 {
			return
		}
	}
	for from := 0; from < len(l.Entries); {
		to := from + 1
		for to < len(l.Entries) && l.Entries[to].At == l.Entries[from].At {
			to++
		}
		for i := from; i < to; i++ {
			l.Entries[i].At += int64(time.Second) * int64(i-from) / int64(to-from)
		}
		from = to
	}
}
