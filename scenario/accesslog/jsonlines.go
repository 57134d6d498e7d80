package accesslog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redline-go/redline/scenario/jsonlines"
	"github.com/redline-go/redline/scenario/protocol"
)

// maxLogHeaders bounds the headers of a logged request.
const maxLogHeaders = 16

// parseLogLine parses a line of JSON:
//
//	{"time": "2026-01-31T08:00:00.25Z", "method": "POST", "path": "/a?b=1", "body": {"n": 1}, "headers": {"Accept": "text/plain"}}
//
// time is RFC 3339, or Unix time in seconds with any fraction; method is GET
// when missing; uri is another name for path. Other keys are ignored.
func parseLogLine(line []byte) (Entry, error) {
	e := Entry{Method: "GET"}
	var object struct {
		Time, Method, Path, URI, Body json.RawMessage
		Headers                       map[string]json.RawMessage
	}
	if err := jsonlines.Decode(line, &object); err != nil {
		return e, err
	}
	stamp, _ := jsonlines.Text(object.Time)
	var err error
	if e.At, err = logInstant(stamp); err != nil {
		return e, err
	}
	if method, there := jsonlines.Text(object.Method); there {
		if e.Method, err = protocol.CheckMethod(method); err != nil {
			return e, errMethod
		}
	}
	path, there := jsonlines.Text(object.Path)
	if !there {
		path, _ = jsonlines.Text(object.URI)
	}
	if e.Path, err = logPath([]byte(path)); err != nil {
		return e, err
	}
	e.Body, _ = jsonlines.Text(object.Body)
	for _, name := range slices.Sorted(maps.Keys(object.Headers)) {
		if slices.ContainsFunc(protocol.OwnHeaders, func(own string) bool { return strings.EqualFold(own, name) }) {
			continue // redline writes those itself
		}
		value, _ := jsonlines.Text(object.Headers[name])
		if _, err := protocol.CheckHeader(name); err != nil || hasControl(value) {
			return e, errors.New("a header's name or value cannot be sent")
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		if !slices.ContainsFunc(e.Headers, func(h Header) bool { return h.Name == name }) {
			e.Headers = append(e.Headers, Header{name, value})
		}
	}
	slices.SortFunc(e.Headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	if len(e.Headers) > maxLogHeaders {
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
