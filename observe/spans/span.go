package spans

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/redline-go/redline/record/statement"

	"github.com/redline-go/redline/redact"
)

// Bounds of a span. Longer texts are cut, further entries are left out.
const (
	maxSpan       = 256 << 10 // bytes of its encoding; one over it is dropped
	maxName       = 200       // bytes
	maxValue      = 500
	maxStatement  = 2000
	maxAttributes = 12
)

// span is a span as it arrived, within bounds.
type span struct {
	trace      [16]byte
	id, parent [8]byte // parent is zero for none
	service    string
	name       string
	kind       kind
	status     status
	message    string
	from, to   uint64 // ns since 1970, by the service's clock
	attributes []attribute
	statement  string // key of its SQL; empty for none
}

// kind is SpanKind of OTLP's trace.proto.
type kind uint8

// Kinds of spans.
const (
	kindServer   kind = 2
	kindConsumer kind = 5
)

// String is the kind as spans.jsonl has it, "" if it was not set.
func (k kind) String() string {
	names := [...]string{"", "internal", "server", "client", "producer", "consumer"}
	if int(k) < len(names) {
		return names[k]
	}
	return ""
}

// status is StatusCode of OTLP's trace.proto.
type status uint8

const statusError status = 2

// String is the status as spans.jsonl has it, "" if it was not set.
func (s status) String() string {
	switch s {
	case 1:
		return "ok"
	case statusError:
		return "error"
	}
	return ""
}

// entry reports whether the span is where its service was entered.
func (s *span) entry() bool {
	return s.kind == kindServer || s.kind == kindConsumer || s.parent == [8]byte{}
}

// took is how long the span lasted, in ns.
func (s *span) took() int64 {
	if s.to <= s.from {
		return 0
	}
	return int64(min(s.to-s.from, 1<<62))
}

// batch takes the spans of one export: admit is called, with the trace id, before a span
// is examined. It stays within bounds whatever the export contains.
type batch struct {
	// admit decides by the trace id alone whether the rest of a span is decoded: a span
	// over the rate costs its ids and no more.
	admit   func(trace []byte) bool
	spans   []span
	all     int64 // spans of the export
	invalid int64 // of these, without a trace id or span id
	texts   texts
	shapes  shapes
}

var errMalformed = errors.New("the export is malformed")

// ids sets the ids of a span; false if they are invalid (OTLP: trace.proto).
func (s *span) ids(trace, id, parent []byte) bool {
	if len(trace) != len(s.trace) || len(id) != len(s.id) || len(parent) != 0 && len(parent) != len(s.parent) {
		return false
	}
	copy(s.trace[:], trace)
	copy(s.id[:], id)
	copy(s.parent[:], parent)
	return s.trace != [16]byte{} && s.id != [8]byte{}
}

// texts keeps one copy of each text: spans of a service have few different ones.
type texts map[string]string

// shape is the kept form of a statement's text.
type shape struct{ form, key string }

// shapes keeps the shapes of recurring texts.
type shapes map[string]shape

// of returns the shape of a text of PostgreSQL, or of another database.
func (s shapes) of(text []byte, foreign bool) shape {
	if known, ok := s[string(text)]; ok && !foreign {
		return known
	}
	if foreign {
		return shape{form: cut(statement.Foreign(string(text)))}
	}
	made := shape{form: cut(statement.Normal(string(text))), key: statement.Key(string(text))}
	if len(s) >= mostTexts {
		clear(s)
	}
	if len(text) <= maxStatement { // the map is bounded by that
		s[string(text)] = made
	}
	return made
}

// cut bounds a statement's form.
func cut(form string) string {
	if len(form) > maxStatement {
		form = form[:maxStatement]
	}
	return strings.ToValidUTF8(form, "")
}

// mostTexts bounds the texts that are kept for their next occurrence.
const mostTexts = 1 << 12

// of returns text, cut to a number of bytes, as valid UTF-8.
func (t texts) of(text []byte, most int) string {
	if len(text) > most {
		// Secrets are removed before the cut: half of one would not be found later.
		text = []byte(redact.Text(string(text[:min(len(text), 4*most)])))
		text = text[:min(len(text), most)]
	}
	if known, ok := t[string(text)]; ok {
		return known
	}
	s := string(text)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "")
	}
	if len(t) >= mostTexts {
		clear(t)
	}
	t[strings.Clone(string(text))] = s
	return s
}
