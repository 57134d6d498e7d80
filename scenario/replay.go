package scenario

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/redact"
)

// replayFeeder holds the differences between the requests of a replayed log.
const replayFeeder = "replay"

// maxKinds is how many kinds of request a log makes at most: methods, each
// with and without a body, and with each set of headers.
const maxKinds = 64

// replaySource is the scenario's description of a log to replay.
type replaySource struct {
	file    string
	format  string // a key of logFormats; "" lets the file's name decide
	base    string
	speed   float64 // 0 means 1
	methods []string
	shared  Request // headers and follow of every request
}

// replay decodes a log to replay and puts it into the plan.
func (d *decoder) replay(n ast.Node) {
	var s replaySource
	var fileAt ast.Node
	var headers []header
	before := len(d.errs)
	seen := d.mapping(n, "replay", []key{
		{name: "file", decode: func(_ *decoder, n ast.Node) { fileAt = n }},
		{name: "format", decode: func(d *decoder, n ast.Node) { scalar(d, n, "format", &s.format, oneOf("combined", "jsonl")) }},
		{name: "base", decode: func(d *decoder, n ast.Node) { scalar(d, n, "base", &s.base, checkBase) }},
		{name: "speed", decode: func(d *decoder, n ast.Node) { scalar(d, n, "speed", &s.speed, ParseSpeed) }},
		{name: "methods", decode: func(d *decoder, n ast.Node) {
			for _, e := range d.elements(n, "methods") {
				var method string
				scalar(d, e, "methods", &method, checkMethod)
				s.methods = append(s.methods, method)
			}
		}},
		{name: "headers", decode: func(d *decoder, n ast.Node) { headers = d.headers(n, &s.shared) }},
		{name: "follow", decode: func(d *decoder, n ast.Node) { scalar(d, n, "follow", &s.shared.Follow, parseBool) }},
	})
	for _, name := range []string{"file", "base"} {
		if seen[name] == nil && len(d.errs) == before {
			d.fail(n, `write {file: access.log, base: "http://127.0.0.1:8080"}`, "replay has no %s", name)
		}
	}
	for _, h := range headers {
		d.checkTemplate(h.at, Template(h.value), CompileHeader)
	}
	if len(d.errs) > before {
		return
	}
	if at := d.nodes["data."+replayFeeder]; at != nil {
		d.fail(at, "give it another name", "the feeder %s is that of load.replay", replayFeeder)
		return
	}
	f, name := d.open(fileAt, "file")
	if f == nil {
		return
	}
	defer f.Close()
	s.file = name
	if err := s.into(d.plan, f); err != nil {
		d.failErr(fileAt, "file", fmt.Errorf("%s: %w", name, err))
	}
}

// ParseSpeed parses how much faster a log is replayed than it was written.
func ParseSpeed(text string) (float64, error) {
	speed, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "x"), 64)
	if err != nil || checkSpeed(speed) != nil {
		return 0, mistakef("write it as 2 for twice as fast", "%.40q is not a speed above 0 and at most %d", text, maxSpeed)
	}
	return speed, nil
}

const maxSpeed = 10_000

func checkSpeed(speed float64) error {
	if !(speed > 0 && speed <= maxSpeed) {
		return fmt.Errorf("a speed of %g is not above 0 and at most %d", speed, maxSpeed)
	}
	return nil
}

// checkBase checks the URL that the paths of a log are put behind.
func checkBase(text string) (string, error) {
	if _, err := checkURL(text); err != nil {
		return "", err
	}
	if strings.ContainsAny(text, "?#{") {
		return "", mistakef("write it as http://127.0.0.1:8080", "base %.200q has more than a host and a path", redact.Text(text))
	}
	return strings.TrimRight(text, "/"), nil
}

// into reads the log and makes requests, a feeder and times of it.
func (s *replaySource) into(p *Plan, log io.Reader) error {
	format := s.format
	if format == "" {
		format = "combined"
		if lower := strings.ToLower(s.file); strings.HasSuffix(lower, ".jsonl") || strings.HasSuffix(lower, ".ndjson") || strings.HasSuffix(lower, ".json") {
			format = "jsonl"
		}
	}
	read, err := readLog(log, logFormats[format], s.methods)
	if err != nil {
		return err
	}
	read.spread()
	if s.speed == 0 {
		s.speed = 1
	}
	b, err := newReplay(read.entries, s.speed)
	if err != nil {
		return err
	}
	b.replay.File = s.file
	p.Load.Replay, p.Requests = b.replay, b.requests(s)
	p.Data = maps.Clone(p.Data)
	if p.Data == nil {
		p.Data = map[string]*Table{}
	}
	p.Data[replayFeeder] = b.table
	read.warn(p, filepath.Base(s.file), s.methods)
	if read.malformed > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("lines of %s that cannot be read are left out: %d of %d, and the first is %v", s.file, read.malformed, read.lines, read.first))
	}
	if n := withoutBody(read.entries); n > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s has no bodies for %d of its %d requests, whose methods bring one (POST, PUT, PATCH): they are sent without", s.file, n, len(read.entries)))
	}
	return nil
}

func withoutBody(entries []logEntry) (n int) {
	for _, e := range entries {
		if e.body == "" && slices.Contains([]string{"POST", "PUT", "PATCH"}, e.method) {
			n++
		}
	}
	return n
}

// replayKind is the common part of one request of the mix.
type replayKind struct {
	method  string
	body    bool
	headers string // names, joined by a comma
}

// replayBuilder turns entries into a Replay, its feeder and its requests.
// Entries that ask for the same share a row.
type replayBuilder struct {
	replay *Replay
	table  *Table
	kinds  []replayKind
	rows   map[string]int32
}

func newReplay(entries []logEntry, speed float64) (*replayBuilder, error) {
	n := len(entries)
	b := &replayBuilder{
		replay: &Replay{Speed: speed, Feeder: replayFeeder, At: make([]time.Duration, n), Request: make([]int32, n), Row: make([]int32, n)},
		table:  &Table{Columns: []string{"path", "body"}, encoded: true},
		rows:   map[string]int32{},
	}
	kinds := map[replayKind]int32{}
	for _, name := range headerNames(entries) {
		b.table.Columns = append(b.table.Columns, headerColumn(name))
	}
	if len(b.table.Columns) > maxColumns {
		return nil, fmt.Errorf("the log has over %d names of headers", maxColumns)
	}
	for i, e := range entries {
		at := float64(e.at-entries[0].at) / speed
		if at > float64(MaxDuration-time.Second) { // the load ends after the last
			return nil, mistakef("replay it faster, or cut it", "the log takes over %v at speed %g", MaxDuration, speed)
		}
		k := kindOf(e)
		index, known := kinds[k]
		if !known {
			if len(b.kinds) == maxKinds {
				return nil, fmt.Errorf("over %d kinds of request (method and names of headers)", maxKinds)
			}
			index = int32(len(b.kinds))
			kinds[k], b.kinds = index, append(b.kinds, k)
		}
		b.replay.At[i], b.replay.Request[i], b.replay.Row[i] = time.Duration(at), index, b.row(e)
	}
	return b, nil
}

func headerNames(entries []logEntry) []string {
	names := map[string]bool{}
	for _, e := range entries {
		for _, h := range e.headers {
			names[h.name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func headerColumn(name string) string { return "header " + name }

func kindOf(e logEntry) replayKind {
	k := replayKind{method: e.method, body: e.body != ""}
	for i, h := range e.headers {
		if i > 0 {
			k.headers += ","
		}
		k.headers += h.name
	}
	return k
}

// row returns the row of an entry's request.
func (b *replayBuilder) row(e logEntry) int32 {
	same := e.path
	if e.body != "" || len(e.headers) > 0 {
		same = fmt.Sprintf("%s\x00%s\x00%q", e.path, e.body, e.headers)
	}
	if at, known := b.rows[same]; known {
		return at
	}
	row := make([]string, len(b.table.Columns))
	row[0], row[1] = e.path, e.body
	for _, h := range e.headers {
		row[slices.Index(b.table.Columns, headerColumn(h.name))] = h.value
	}
	at := int32(len(b.table.Rows))
	b.rows[same], b.table.Rows = at, append(b.table.Rows, row)
	return at
}

// requests makes one request for each kind.
func (b *replayBuilder) requests(s *replaySource) []Request {
	placeholder := func(column string) string { return "{{" + replayFeeder + "." + column + "}}" }
	var all []Request
	for _, k := range b.kinds {
		r := Request{Name: "replay " + k.method, Weight: 1, Method: k.method, URL: Template(s.base + "/" + placeholder("path")),
			Headers: map[string]Secret{}, Follow: s.shared.Follow, fromEnv: s.shared.fromEnv}
		maps.Copy(r.Headers, s.shared.Headers)
		if k.body {
			r.Name, r.Body = r.Name+" with body", Template(placeholder("body"))
		}
		if k.headers != "" {
			r.Name += " (" + k.headers + ")"
			for name := range strings.SplitSeq(k.headers, ",") {
				if !hasHeader(s.shared.Headers, name) {
					r.Headers[name] = Secret(placeholder(headerColumn(name)))
				}
			}
		}
		all = append(all, r)
	}
	return all
}

func hasHeader(headers map[string]Secret, name string) bool {
	for other := range headers {
		if strings.EqualFold(other, name) {
			return true
		}
	}
	return false
}

// length is the time from the first request to just after the last.
func (r *Replay) length() time.Duration {
	if len(r.At) == 0 {
		return 0
	}
	return (r.At[len(r.At)-1] + time.Millisecond).Truncate(time.Millisecond) + time.Millisecond
}

// validate checks that times, requests and rows fit together.
func (r *Replay) validate(p *Plan) error {
	table := p.Data[r.Feeder]
	switch {
	case table == nil:
		return fmt.Errorf("there is no feeder %q", r.Feeder)
	case len(r.At) == 0 || len(r.At) != len(r.Request) || len(r.At) != len(r.Row):
		return errors.New("times, requests and rows are not of one number above 0")
	}
	if err := checkSpeed(r.Speed); err != nil {
		return err
	}
	for i, at := range r.At {
		switch {
		case at < 0 || i > 0 && at < r.At[i-1]:
			return errors.New("the times do not ascend from 0")
		case r.Request[i] < 0 || int(r.Request[i]) >= len(p.Requests) || r.Row[i] < 0 || int(r.Row[i]) >= len(table.Rows):
			return fmt.Errorf("entry %d is of a request or row that is not there", i)
		}
	}
	return nil
}
