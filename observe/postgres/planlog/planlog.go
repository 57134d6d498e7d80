// Package planlog reads the plans that auto_explain writes to a PostgreSQL
// server's log, see https://www.postgresql.org/docs/current/auto-explain.html: in
// text or JSON, in a log of lines (stderr), csvlog or jsonlog.
//
// A log holds constants; the output of this package does not. Of a plan it keeps
// only fields with known names, with expressions passed through package redact, and
// of a statement's text only its key. The log may be cut at both ends and may
// contain anybody's text, so unknown parts are left out.
package planlog

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/redline-go/redline/record/statement"
)

// Format is how a log is written.
type Format string

// The formats, named as in log_destination.
const (
	Stderr Format = "stderr"
	CSV    Format = "csvlog"
	JSON   Format = "jsonlog"
)

const (
	// maxEntries bounds the plans of a log, maxMessage the bytes of one.
	maxEntries = 20000
	maxMessage = 1 << 20
)

// Entry is one execution whose plan was logged.
type Entry struct {
	QueryID int64  // 0 if the server did not log it
	Key     string // of the statement's text, see statement.Key
	// Duration in ms, as logged.
	Duration float64
	// Plan is the output of EXPLAIN (FORMAT JSON), without constants.
	Plan json.RawMessage
}

// begins matches the first line of an entry's message, possibly after the log's
// prefix.
var begins = regexp.MustCompile(`duration: ([0-9]+(?:\.[0-9]+)?) ms  plan:$`)

// Read returns the entries of a piece of a log.
func Read(log []byte, format Format) []Entry {
	var entries []Entry
	add := func(message string, id int64) {
		if len(entries) == maxEntries || len(message) > maxMessage {
			return
		}
		if e, ok := parse(message); ok {
			if e.QueryID == 0 {
				e.QueryID = id
			}
			entries = append(entries, e)
		}
	}
	switch format {
	case JSON:
		readJSON(log, add)
	case CSV:
		readCSV(log, add)
	default:
		readLines(log, add)
	}
	return entries
}

// readLines joins the lines of a message: those after the first begin with a tab.
func readLines(log []byte, add func(string, int64)) {
	var message strings.Builder
	end := func() {
		if message.Len() > 0 {
			add(message.String(), 0)
		}
		message.Reset()
	}
	for len(log) > 0 {
		line, rest, whole := bytes.Cut(log, []byte{'\n'})
		log = rest
		switch {
		case !whole: // torn
			return
		case len(line) > 0 && line[0] == '\t':
			if message.Len() > 0 && message.Len() <= maxMessage {
				message.WriteByte('\n')
				message.Write(line[1:])
			}
		default:
			end()
			if m := begins.FindIndex(bytes.TrimRight(line, "\r")); m != nil {
				message.Write(line[m[0]:])
			}
		}
	}
	end()
}

// readJSON reads jsonlog, a line per message (PostgreSQL manual, "Using JSON-Format Log
// Output"). Lines that do not parse are torn or another program's.
func readJSON(log []byte, add func(string, int64)) {
	for line := range bytes.Lines(log) {
		var one struct {
			Message string `json:"message"`
			QueryID int64  `json:"query_id"`
		}
		if bytes.Contains(line, []byte("plan:")) && json.Unmarshal(line, &one) == nil {
			add(one.Message, one.QueryID)
		}
	}
}

// Columns of csvlog; that of the query's id came with version 14.
const (
	csvMessage = 13
	csvQueryID = 25
)

// maxTorn bounds how often the CSV reader restarts after invalid text: each time it
// may scan to the end for a closing quote.
const maxTorn = 16

// readCSV reads csvlog, whose messages may hold line breaks (PostgreSQL manual, "Using
// CSV-Format Log Output"). New versions append columns and never move them.
func readCSV(log []byte, add func(string, int64)) {
	for range maxTorn {
		reader := csv.NewReader(bytes.NewReader(log))
		reader.FieldsPerRecord = -1
		good := int64(0)
		for {
			fields, err := reader.Read()
			if err != nil {
				break
			}
			good = reader.InputOffset()
			if len(fields) <= csvMessage {
				continue
			}
			var id int64
			if len(fields) > csvQueryID {
				id, _ = strconv.ParseInt(fields[csvQueryID], 10, 64)
			}
			add(fields[csvMessage], id)
		}
		log = log[min(good, int64(len(log))):]
		next := bytes.IndexByte(log, '\n')
		if next < 0 {
			return
		}
		log = log[next+1:]
	}
}

// parse reads a message.
func parse(message string) (Entry, bool) {
	first, body, found := strings.Cut(message, "\n")
	m := begins.FindStringSubmatch(strings.TrimRight(first, "\r"))
	if !found || m == nil {
		return Entry{}, false
	}
	var e Entry
	e.Duration, _ = strconv.ParseFloat(m[1], 64)
	var text string
	var plan map[string]any
	if strings.HasPrefix(strings.TrimSpace(body), "{") {
		var whole struct {
			Text string         `json:"Query Text"`
			ID   int64          `json:"Query Identifier"`
			Plan map[string]any `json:"Plan"`
		}
		if json.Unmarshal([]byte(body), &whole) != nil {
			return Entry{}, false
		}
		text, e.QueryID, plan = whole.Text, whole.ID, whole.Plan
	} else {
		text, e.QueryID, plan = parseText(body)
	}
	if plan == nil || text == "" {
		return Entry{}, false
	}
	e.Key = statement.Key(text)
	kept, err := json.Marshal([]any{map[string]any{"Plan": clean(plan, 0)}})
	e.Plan = kept
	return e, err == nil
}
