package spans

import (
	"bytes"
	"strconv"
)

// attribute is a kept attribute of a span.
type attribute struct{ key, value string }

// keeps maps the attributes that are kept to their present names in OpenTelemetry's
// conventions. None holds a header, a query of a URL, or other free text that a user
// sends; the text of a statement is kept as statementKey.
var keeps = map[string]string{
	"http.route": "http.route", "http.request.method": "http.request.method", "http.method": "http.request.method",
	"http.response.status_code": "http.response.status_code", "http.status_code": "http.response.status_code",
	"db.system.name": "db.system.name", "db.system": "db.system.name",
	"db.operation.name": "db.operation.name", "db.operation": "db.operation.name",
	"db.collection.name": "db.collection.name", "db.sql.table": "db.collection.name",
	"rpc.system": "rpc.system", "rpc.service": "rpc.service", "rpc.method": "rpc.method",
	"messaging.system": "messaging.system", "messaging.destination.name": "messaging.destination.name",
	"code.function.name": "code.function.name", "code.function": "code.function.name",
	"code.file.path": "code.file.path", "code.filepath": "code.file.path",
	"code.line.number": "code.line.number", "code.lineno": "code.line.number",
	"server.address": "server.address", "net.peer.name": "server.address", "peer.service": "peer.service",
	"error.type": "error.type",
}

// statementKey is the name of a statement's text.
const statementKey = "db.query.text"

// anyValue is a scalar value of an attribute.
type anyValue struct {
	string []byte
	int    int64
	bool   bool
	kind   valueKind
}

// valueKind says which field of an anyValue holds the value.
type valueKind uint8

// Kinds of values.
const (
	isString valueKind = iota // also of a value that is not kept: a list, a double
	isInt
	isBool
)

// text returns the value as text.
func (v anyValue) text() []byte {
	switch v.kind {
	case isInt:
		return strconv.AppendInt(nil, v.int, 10)
	case isBool:
		return strconv.AppendBool(nil, v.bool)
	}
	return v.string
}

// attributes gathers those of one span.
type attributes struct {
	kept   []attribute
	query  []byte // the statement as it arrived
	system string
}

// add takes an attribute if it is one to keep. Of two names for one thing the
// first counts.
func (a *attributes) add(key []byte, value anyValue, t texts) {
	if bytes.Equal(key, []byte(statementKey)) || bytes.Equal(key, []byte("db.statement")) {
		a.query = value.text()
		return
	}
	name, ok := keeps[string(key)]
	if !ok || len(a.kept) == maxAttributes {
		return
	}
	for _, known := range a.kept {
		if known.key == name {
			return
		}
	}
	text := t.of(value.text(), maxValue)
	if text == "" {
		return
	}
	if name == "db.system.name" {
		a.system = text
	}
	a.kept = append(a.kept, attribute{name, text})
}

// into gives the span the gathered attributes. A statement is kept in its normal form;
// for databases without SQL, whose statements may hold anything, only its first word.
func (a *attributes) into(s *span, known shapes) {
	s.attributes = a.kept
	if len(a.query) == 0 {
		return
	}
	var form string
	switch a.system {
	case "postgresql", "cockroachdb":
		made := known.of(a.query, false)
		form, s.statement = made.form, made.key
	case "mysql", "mariadb", "sqlite", "mssql", "microsoft.sql_server", "oracle", "oracle.db", "other_sql", "clickhouse", "":
		form = known.of(a.query, true).form
	default:
		word, _, _ := bytes.Cut(bytes.TrimSpace(a.query), []byte{' '})
		if len(word) > 0 && len(word) < 20 &&
			bytes.IndexFunc(word, func(r rune) bool { return (r|0x20 < 'a' || r|0x20 > 'z') && r != '_' }) < 0 {
			form = string(word)
		}
	}
	if form != "" {
		s.attributes = append(s.attributes, attribute{statementKey, form})
	}
}
