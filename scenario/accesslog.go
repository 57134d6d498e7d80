package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of a logged request.
const (
	maxPath       = 8 << 10 // bytes of path and query
	maxLogHeaders = 16
)

// logEntry is one request of a log.
type logEntry struct {
	at      int64  // Unix time, ns
	method  string // upper case
	path    string // path and query without the first slash, fit for a URL
	body    string
	headers []field // by name
}

// accessLog holds a log's requests, in the log's order.
type accessLog struct {
	entries   []logEntry
	lines     int // that are not blank
	malformed int
	first     error  // of the malformed lines
	left      counts // that are not to be sent
}

// errMethod holds nothing of the line, as all errors of a line: a warning may
// hold them, and a log holds secrets.
var errMethod = errors.New("its method cannot be one")

// lineParser is a format of a log: from one line to its request.
type lineParser func(line []byte) (logEntry, error)

var logFormats = map[string]lineParser{"combined": parseCombined, "jsonl": parseLogLine}

// readLog reads a log of at most MaxLog bytes and MaxRows requests. methods
// names those to keep; none keeps the safe ones. A line that cannot be read is counted;
// more than one in a hundred of them is an error, because the file is then of
// another format.
func readLog(r io.Reader, parse lineParser, methods []string) (*accessLog, error) {
	log := &accessLog{left: counts{}}
	keep := methods
	if len(keep) == 0 {
		keep = safeMethods
	}
	err := eachLine(r, MaxLog, func(number int, line []byte) error {
		log.lines++
		e, err := parse(line)
		if err != nil {
			if log.malformed++; log.first == nil {
				log.first = fmt.Errorf("line %d: %w", number, err)
			}
			return nil
		}
		if does := e.does(); !slices.Contains(keep, does) {
			log.left[does]++
			return nil
		}
		if len(log.entries) >= MaxRows {
			return fmt.Errorf("more than %d requests", MaxRows)
		}
		log.entries = append(log.entries, e)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case log.malformed*100 > log.lines:
		return nil, fmt.Errorf("%w (%d of %d lines cannot be read, and 1 %% may)", log.first, log.malformed, log.lines)
	case len(log.entries) == 0:
		return nil, log.none(methods)
	}
	return log, nil
}

// spread sorts the entries by time. Where the log knows whole seconds only,
// the requests of a second are spread evenly over it, in the log's order.
func (l *accessLog) spread() {
	slices.SortStableFunc(l.entries, func(a, b logEntry) int {
		if a.at < b.at {
			return -1
		} else if a.at > b.at {
			return 1
		}
		return 0
	})
	for _, e := range l.entries {
		if e.at%int64(time.Second) != 0 {
			return
		}
	}
	for from := 0; from < len(l.entries); {
		to := from + 1
		for to < len(l.entries) && l.entries[to].at == l.entries[from].at {
			to++
		}
		for i := from; i < to; i++ {
			l.entries[i].at += int64(time.Second) * int64(i-from) / int64(to-from)
		}
		from = to
	}
}

// parseCombined parses a line of nginx's format "combined", which is Apache's
// too, and of longer formats that begin like it:
//
//	127.0.0.1 - - [31/Jan/2026:08:00:00 +0000] "GET /a?b=1 HTTP/1.1" 200 12 "-" "agent"
//
// Seconds may have a fraction. Fields after the request are ignored.
func parseCombined(line []byte) (logEntry, error) {
	var e logEntry
	_, rest, ok := bytes.Cut(line, []byte(" ["))
	stamp, rest, ok2 := bytes.Cut(rest, []byte("] \""))
	if !ok || !ok2 || len(stamp) > 64 {
		return e, errors.New(`it has no [time] "request"`)
	}
	at, err := time.Parse("02/Jan/2006:15:04:05 -0700", string(stamp))
	if err != nil {
		return e, errors.New("its time is not such as 31/Jan/2026:08:00:00 +0000")
	}
	if e.at, err = unixNano(at); err != nil {
		return e, err
	}
	request, ok := quoted(rest)
	if !ok {
		return e, errors.New("the request's quotes are not closed")
	}
	method, target, ok := bytes.Cut(request, []byte(" "))
	version := bytes.LastIndexByte(target, ' ')
	if !ok || version < 0 || !bytes.HasPrefix(target[version+1:], []byte("HTTP/")) {
		return e, errors.New("its request is not such as GET / HTTP/1.1")
	}
	if e.method, err = checkMethod(string(method)); err != nil {
		return e, errMethod
	}
	e.path, err = logPath(unescapeLog(target[:version]))
	return e, err
}

// quoted returns the text before the closing quote; a backslash keeps the
// next character from closing.
func quoted(text []byte) ([]byte, bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[:i], true
		}
	}
	return nil, false
}

// unescapeLog undoes the escapes that servers write for characters that would break a
// line: \xHH, \" and \\.
func unescapeLog(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		if text[i+1] == 'x' && i+3 < len(text) {
			if n, err := strconv.ParseUint(string(text[i+2:i+4]), 16, 8); err == nil {
				out = append(out, byte(n))
				i += 3
				continue
			}
		}
		i++
		out = append(out, text[i])
	}
	return out
}

// logPath makes a logged path and query fit for a URL and takes its first
// slash off. A client's own escapes stay as they are.
func logPath(text []byte) (string, error) {
	if len(text) == 0 || text[0] != '/' {
		return "", errors.New("its path does not begin with a slash")
	}
	if len(text) > maxPath {
		return "", fmt.Errorf("its path is over %d bytes", maxPath)
	}
	parts := strings.Split(string(text[1:]), "?")
	for i := range parts {
		parts[i] = escapePath(parts[i])
	}
	return strings.Join(parts, "?"), nil
}

// unixNano refuses times that no log has and that would not fit.
func unixNano(t time.Time) (int64, error) {
	if t.Year() < 1970 || t.Year() > 2200 {
		return 0, fmt.Errorf("the year %d is not from 1970 to 2200", t.Year())
	}
	return t.UnixNano(), nil
}

// parseLogLine parses a line of JSON:
//
//	{"time": "2026-01-31T08:00:00.25Z", "method": "POST", "path": "/a?b=1", "body": {"n": 1}, "headers": {"Accept": "text/plain"}}
//
// time is RFC 3339, or Unix time in seconds with any fraction; method is GET
// when missing; uri is another name of path. Other keys are passed over.
func parseLogLine(line []byte) (logEntry, error) {
	e := logEntry{method: "GET"}
	var object struct {
		Time, Method, Path, URI, Body json.RawMessage
		Headers                       map[string]json.RawMessage
	}
	if err := unmarshalLine(line, &object); err != nil {
		return e, err
	}
	stamp, _ := valueText(object.Time)
	var err error
	if e.at, err = logInstant(stamp); err != nil {
		return e, err
	}
	if method, there := valueText(object.Method); there {
		if e.method, err = checkMethod(method); err != nil {
			return e, errMethod
		}
	}
	path, there := valueText(object.Path)
	if !there {
		path, _ = valueText(object.URI)
	}
	if e.path, err = logPath([]byte(path)); err != nil {
		return e, err
	}
	e.body, _ = valueText(object.Body)
	for _, name := range slices.Sorted(maps.Keys(object.Headers)) {
		if slices.ContainsFunc(ownHeaders, func(own string) bool { return strings.EqualFold(own, name) }) {
			continue // redline writes those itself
		}
		value, _ := valueText(object.Headers[name])
		if _, err := checkHeaderName(name); err != nil || hasControl(value) {
			return e, errors.New("a header's name or value cannot be sent")
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		if !slices.ContainsFunc(e.headers, func(f field) bool { return f.name == name }) {
			e.headers = append(e.headers, field{name, value})
		}
	}
	slices.SortFunc(e.headers, func(a, b field) int { return strings.Compare(a.name, b.name) })
	if len(e.headers) > maxLogHeaders {
		return e, fmt.Errorf("it has over %d headers", maxLogHeaders)
	}
	return e, nil
}

// hasControl reports whether a text could end a header.
func hasControl(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == utf8.RuneError }) >= 0
}

// logInstant parses a time of a JSON log into Unix time in ns.
func logInstant(text string) (int64, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds >= 0 && seconds < 7.2e9) {
			return 0, errors.New("its time is not in seconds since 1970")
		}
		whole, fraction := math.Modf(seconds)
		return int64(whole)*int64(time.Second) + int64(math.Round(fraction*1e9)), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, errors.New("its time is neither RFC 3339 nor seconds since 1970")
	}
	return unixNano(at)
}
