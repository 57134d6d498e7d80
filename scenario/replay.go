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

	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario/accesslog"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/protocol"
	"github.com/redline-go/redline/scenario/scalar"
)

// ReplayFeeder holds the differences between the requests of a replayed log.
const ReplayFeeder = "replay"

// maxKinds is how many kinds of request a log makes at most: methods, each
// with and without a body, and with each set of headers.
const maxKinds = 64

// ReplaySource is the scenario's description of a log to replay.
type ReplaySource struct {
	File    string
	Format  string   // "combined" or "jsonl"; "" lets the file's name decide
	Base    string   // URL to which logged paths are appended
	Speed   float64  // 0 means 1
	Methods []string // to send; none sends the safe ones
	Shared  Request  // headers and follow of every request
}

// ParseSpeed parses the factor by which a log is replayed faster than it was written.
func ParseSpeed(text string) (float64, error) {
	speed, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "x"), 64)
	if err != nil || checkSpeed(speed) != nil {
		return 0, mistake.Newf("write it as 2 for twice as fast", "%.40q is not a speed above 0 and at most %d", text, maxSpeed)
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

// CheckBase checks the URL to which the paths of a log are appended.
func CheckBase(text string) (string, error) {
	if _, err := protocol.CheckURL(text); err != nil {
		return "", err
	}
	if strings.ContainsAny(text, "?#{") {
		return "", mistake.Newf("write it as http://127.0.0.1:8080", "base %.200q has more than a host and a path", redact.Text(text))
	}
	return strings.TrimRight(text, "/"), nil
}

// Into reads the log and makes a plan's requests, feeder and times from it.
func (s *ReplaySource) Into(p *Plan, log io.Reader) error {
	format := s.Format
	if format == "" {
		format = "combined"
		if lower := strings.ToLower(s.File); strings.HasSuffix(lower, ".jsonl") || strings.HasSuffix(lower, ".ndjson") ||
			strings.HasSuffix(lower, ".json") {
			format = "jsonl"
		}
	}
	read, err := accesslog.Read(log, format, s.Methods)
	if err != nil {
		return err
	}
	read.Spread()
	if s.Speed == 0 {
		s.Speed = 1
	}
	b, err := newReplay(read.Entries, s.Speed)
	if err != nil {
		return err
	}
	b.replay.File = s.File
	p.Load.Replay, p.Requests = b.replay, b.requests(s)
	p.Data = maps.Clone(p.Data)
	if p.Data == nil {
		p.Data = map[string]*feeder.Table{}
	}
	p.Data[ReplayFeeder] = b.table
	warnMethods(p, read, filepath.Base(s.File), s.Methods)
	if read.Malformed > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("lines of %s that cannot be read are left out: %d of %d, and the first is %v",
			s.File, read.Malformed, read.Lines, read.First))
	}
	if n := withoutBody(read.Entries); n > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s has no bodies for %d of its %d requests, whose methods bring one "+
			"(POST, PUT, PATCH): they are sent without", s.File, n, len(read.Entries)))
	}
	return nil
}

func withoutBody(entries []accesslog.Entry) (n int) {
	for _, e := range entries {
		if e.Body == "" && slices.Contains([]string{"POST", "PUT", "PATCH"}, e.Method) {
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
	table  *feeder.Table
	kinds  []replayKind
	rows   map[string]int32
}

func newReplay(entries []accesslog.Entry, speed float64) (*replayBuilder, error) {
	n := len(entries)
	b := &replayBuilder{
		replay: &Replay{Speed: speed, Feeder: ReplayFeeder, At: make([]time.Duration, n), Request: make([]int32, n), Row: make([]int32, n)},
		table:  &feeder.Table{Columns: []string{"path", "body"}, Encoded: true},
		rows:   map[string]int32{},
	}
	kinds := map[replayKind]int32{}
	for _, name := range headerNames(entries) {
		b.table.Columns = append(b.table.Columns, headerColumn(name))
	}
	if len(b.table.Columns) > feeder.MaxColumns {
		return nil, fmt.Errorf("the log has over %d names of headers", feeder.MaxColumns)
	}
	for i, e := range entries {
		at := float64(e.At-entries[0].At) / speed
		if at > float64(scalar.MaxDuration-time.Second) { // the load ends after the last
			return nil, mistake.Newf("replay it faster, or cut it", "the log takes over %v at speed %g", scalar.MaxDuration, speed)
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

func headerNames(entries []accesslog.Entry) []string {
	names := map[string]bool{}
	for _, e := range entries {
		for _, h := range e.Headers {
			names[h.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func headerColumn(name string) string { return "header " + name }

func kindOf(e accesslog.Entry) replayKind {
	k := replayKind{method: e.Method, body: e.Body != ""}
	for i, h := range e.Headers {
		if i > 0 {
			k.headers += ","
		}
		k.headers += h.Name
	}
	return k
}

// row returns the row of an entry's request.
func (b *replayBuilder) row(e accesslog.Entry) int32 {
	same := e.Path
	if e.Body != "" || len(e.Headers) > 0 {
		same = fmt.Sprintf("%s\x00%s\x00%q", e.Path, e.Body, e.Headers)
	}
	if at, known := b.rows[same]; known {
		return at
	}
	row := make([]string, len(b.table.Columns))
	row[0], row[1] = e.Path, e.Body
	for _, h := range e.Headers {
		row[slices.Index(b.table.Columns, headerColumn(h.Name))] = h.Value
	}
	at := int32(len(b.table.Rows))
	b.rows[same], b.table.Rows = at, append(b.table.Rows, row)
	return at
}

// requests makes one request for each kind.
func (b *replayBuilder) requests(s *ReplaySource) []Request {
	placeholder := func(column string) string { return "{{" + ReplayFeeder + "." + column + "}}" }
	var all []Request
	for _, k := range b.kinds {
		r := Request{Name: "replay " + k.method, Weight: 1, Method: k.method, URL: feeder.Template(s.Base + "/" + placeholder("path")),
			Headers: map[string]Secret{}, Follow: s.Shared.Follow, fromEnv: s.Shared.fromEnv}
		maps.Copy(r.Headers, s.Shared.Headers)
		if k.body {
			r.Name, r.Body = r.Name+" with body", feeder.Template(placeholder("body"))
		}
		if k.headers != "" {
			r.Name += " (" + k.headers + ")"
			for name := range strings.SplitSeq(k.headers, ",") {
				if !hasHeader(s.Shared.Headers, name) {
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

// warnMethods names the requests of a replay that are left out, and those sent that may change data.
func warnMethods(p *Plan, l *accesslog.Log, file string, named []string) {
	if n := l.Left.All(); n > 0 {
		why := "because they may change data (hint: name the methods to send with --replay-methods or replay.methods)"
		if len(named) > 0 {
			why = "because their methods are not named"
		}
		p.Warnings = append(p.Warnings, fmt.Sprintf("the replay leaves out %d of its %d requests %s: %s", n, n+len(l.Entries), why, l.Left))
	}
	if w := accesslog.Writes(l.Entries); len(w) > 0 {
		p.Load.Replay.Writes = w.String()
		p.Warnings = append(p.Warnings, fmt.Sprintf("the replay sends writes of %s: %s", file, w))
	}
}
