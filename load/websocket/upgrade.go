package websocket

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	bin "encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/requests"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// mostUpgrade is how long the head of an answer to an upgrade may be.
const mostUpgrade = 64 << 10

// handshake is where a connection is upgraded, and how. Its fields up to headers
// decide whether two requests share connections.
type handshake struct {
	scheme, authority, path string
	headers                 map[string]scenario.Secret

	before, after []piece // of the key
	static        bool    // no data goes into the upgrade
	// offered are the subprotocols of the plan; nil when data goes into them.
	offered []string
}

// piece is literal text followed by rendered data, if any.
type piece struct {
	text string
	data *feeder.Renderer
}

// upgrade compiles the request that upgrades a connection (RFC 6455, section
// 4.1).
func upgrade(at endpoint.Endpoint, q *scenario.Request, p *scenario.Plan) (e handshake, err error) {
	e = handshake{scheme: at.Scheme, authority: at.Authority, path: at.Path, headers: q.Headers, static: true}
	path, err := feeder.CompileURL(feeder.Template(at.Path), p.Data)
	if err != nil {
		return e, err
	}
	given, err := requests.Headers(q.Headers)
	if err != nil {
		return e, err
	}
	for _, name := range ours {
		if given[name] {
			return e, fmt.Errorf("header %s is set by redline, which upgrades the connection", name)
		}
	}
	e.before = []piece{{text: "GET ", data: path}, {text: " HTTP/1.1\r\n"}}
	if !given["host"] {
		e.before = append(e.before, piece{text: "Host: " + at.Authority + "\r\n"})
	}
	e.before = append(e.before, piece{text: "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: " +
		"13\r\nSec-WebSocket-Key: "})
	e.after = []piece{{text: "\r\n"}}
	if !given["user-agent"] {
		e.after = append(e.after, piece{text: "User-Agent: redline\r\n"})
	}
	for _, name := range slices.Sorted(maps.Keys(q.Headers)) {
		value, err := feeder.CompileHeader(feeder.Template(q.Headers[name]), p.Data)
		if err != nil {
			return e, fmt.Errorf("header %s: %w", name, err)
		}
		if strings.EqualFold(name, "Sec-WebSocket-Protocol") && value.Static() {
			e.offered = list(string(q.Headers[name]))
		}
		e.after = append(e.after, piece{text: name + ": ", data: value}, piece{text: "\r\n"})
	}
	e.after = append(e.after, piece{text: "\r\n"})
	for _, part := range slices.Concat(e.before, e.after) {
		e.static = e.static && (part.data == nil || part.data.Static())
	}
	if !given["sec-websocket-protocol"] {
		e.offered = []string{} // known to be none
	}
	return e, nil
}

// ours are the headers that make an upgrade, in lower case.
var ours = []string{"upgrade", "connection", "sec-websocket-version", "sec-websocket-key", "sec-websocket-extensions",
	"sec-websocket-accept", "content-length", "transfer-encoding"}

// append appends the upgrade with a key made of nonce. at may be nil when the
// handshake is static.
func (e *handshake) append(out []byte, nonce [2]uint64, at *feeder.Cursor) []byte {
	for _, part := range e.before {
		out = part.append(out, at)
	}
	out = appendKey(out, nonce)
	for _, part := range e.after {
		out = part.append(out, at)
	}
	return out
}

func (p *piece) append(out []byte, at *feeder.Cursor) []byte {
	out = append(out, p.text...)
	if p.data != nil {
		out = p.data.Append(out, at)
	}
	return out
}

func appendKey(out []byte, nonce [2]uint64) []byte {
	var raw [16]byte
	bin.LittleEndian.PutUint64(raw[:], nonce[0])
	bin.LittleEndian.PutUint64(raw[8:], nonce[1])
	return base64.StdEncoding.AppendEncode(out, raw[:])
}

// accepted returns a server's answer to a key (RFC 6455, section 4.2.2).
// The GUID is the protocol's own (section 1.3). SHA-1 protects nothing here: it shows
// that the server understood WebSocket and did not just echo the request.
func accepted(key []byte) string {
	sum := sha1.Sum(append(key[:len(key):len(key)], "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"...))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// headEnd returns the length of an HTTP head with the blank line that ends it,
// or 0 when it is not complete. The first from bytes are known to hold no end.
func headEnd(b []byte, from int) int {
	// The blank line may begin in the three bytes before, as in "\r\n\r" and "\n". A bare LF
	// also ends a line (RFC 9112, section 2.2).
	for at := max(0, from-3); ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return 0
		}
		at += i + 1
		switch rest := b[at:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return at + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return at + 2
		}
	}
}

// answer reads the complete head of an answer to an upgrade. Interim answers
// come before the one that counts: the connection then goes on waiting.
func (e *handshake) answer(head []byte, nonce [2]uint64) (status int, interim bool, err error) {
	answer, err := http.ReadResponse(bufio.NewReaderSize(bytes.NewReader(head), len(head)), nil)
	if err != nil {
		// The text holds the target's words, however long.
		return 0, false, bad(fmt.Errorf("the answer to the upgrade: %.200s", err.Error()))
	}
	status = answer.StatusCode
	switch {
	// RFC 9110, section 15.2: any number of interim answers may come first.
	case status != http.StatusSwitchingProtocols && status >= 100 && status < 200:
		return 0, true, nil
	case status >= 300 && status < 400:
		return status, false, &failure.Error{Kind: failure.Status,
			Err: fmt.Errorf("the target answered the upgrade with status %d; write the URL that it leads to", status)}
	case status != http.StatusSwitchingProtocols:
		return status, false, &failure.Error{Kind: failure.Status,
			Err: fmt.Errorf("the target answered the upgrade with status %d", status)}
	}
	has := func(name, value string) bool {
		return slices.ContainsFunc(list(strings.Join(answer.Header.Values(name), ",")),
			func(s string) bool { return strings.EqualFold(s, value) })
	}
	protocol := answer.Header.Get("Sec-Websocket-Protocol")
	switch {
	case !has("Upgrade", "websocket") || !has("Connection", "upgrade"):
		err = errors.New("the answer to the upgrade has status 101 and does not switch to websocket")
	case answer.Header.Get("Sec-Websocket-Accept") != accepted(appendKey(nil, nonce)):
		err = errors.New("the answer to the upgrade has a Sec-WebSocket-Accept that does not follow from the key")
	case len(answer.Header.Values("Sec-Websocket-Extensions")) > 0:
		err = errors.New("the target accepts an extension that the upgrade did not offer")
	case protocol != "" && e.offered != nil && !slices.Contains(e.offered, protocol):
		err = fmt.Errorf("the target accepts the subprotocol %.40q, which the upgrade did not offer", protocol)
	}
	if err != nil {
		return status, false, bad(err)
	}
	return status, false, nil
}

// list splits a header's list.
func list(value string) []string {
	var all []string
	for one := range strings.SplitSeq(value, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

func bad(err error) error { return &failure.Error{Kind: failure.BadResponse, Err: err} }
