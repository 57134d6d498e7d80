package grpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// node is a value of a message's JSON, in which data may stand wherever a
// string or another value can. The names of an object's members are fixed.
type node struct {
	kind    nodeKind
	literal string   // of a number, true, false or null
	text    []piece  // of a string; of a bare placeholder, which is the only piece
	names   []string // of an object's members
	inner   []*node  // members or elements
	filled  bool     // data stands in it somewhere
}

type nodeKind uint8

const (
	objectNode nodeKind = iota
	listNode
	textNode    // in quotes
	literalNode // number, true, false, null
	bareNode    // a placeholder without quotes: its data is any JSON value
)

// piece is text, followed by data unless that is nil.
type piece struct {
	text string
	data *feeder.Renderer
}

// hole is a placeholder of a template.
type hole struct {
	data   *feeder.Renderer
	quoted bool // it stands within a string
}

// firstMark to lastMark are the runes that may stand for placeholders while the JSON around
// them is parsed; one that the template does not contain is used.
const firstMark, lastMark = '\ue000', '\uf8ff'

// parseJSON parses a template of JSON.
func parseJSON(t feeder.Template, p *scenario.Plan) (*node, error) {
	mark := firstMark
	// The escaped form decodes to the same rune, and would be taken for a placeholder too.
	for strings.ContainsRune(string(t), mark) || strings.Contains(strings.ToLower(string(t)), fmt.Sprintf(`\u%x`, mark)) {
		if mark++; mark > lastMark {
			return nil, errors.New("the message contains every character of Unicode's private use area")
		}
	}
	marked, holes, err := markHoles(string(t), mark, p)
	if err != nil {
		return nil, err
	}
	// encoding/json reads what is left, so that its rules and its messages hold for templates.
	d := &jsonReader{dec: json.NewDecoder(strings.NewReader(marked)), mark: string(mark), holes: holes}
	// As text: a uint64 beyond 2^53 would lose its last digits as a float.
	d.dec.UseNumber()
	n, err := d.value()
	if err == nil {
		if _, more := d.dec.Token(); more != io.EOF {
			err = errors.New("there is more after its end")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the message is not valid JSON: %w", err)
	}
	return n, nil
}

// markHoles replaces each placeholder by its number between marks.
// With placeholders a template is not JSON: {"id": {{user.id}}}. So each is replaced by a
// string that names it, and found again in the tree that encoding/json makes of the result.
func markHoles(t string, mark rune, p *scenario.Plan) (marked string, holes []hole, err error) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(t); i++ {
		switch {
		case strings.HasPrefix(t[i:], "{{"):
			end := strings.Index(t[i:], "}}")
			if end < 0 {
				return "", nil, errors.New("{{ has no closing }}")
			}
			data, err := feeder.CompileTemplate(feeder.Template(t[i:i+end+2]), p.Data)
			if err != nil {
				return "", nil, err
			}
			// Marks on both sides of a number, so that text after a placeholder cannot lengthen it.
			stand := string(mark) + strconv.Itoa(len(holes)) + string(mark)
			if !quoted {
				stand = `"` + stand + `"`
			}
			b.WriteString(stand)
			holes = append(holes, hole{data, quoted})
			i += end + 1
			continue
		// The character after a backslash neither opens nor closes a string.
		case quoted && t[i] == '\\' && i+1 < len(t):
			b.WriteByte(t[i])
			i++
		case t[i] == '"':
			quoted = !quoted
		}
		b.WriteByte(t[i])
	}
	return b.String(), holes, nil
}

// jsonReader makes nodes of marked JSON.
type jsonReader struct {
	dec   *json.Decoder
	mark  string
	holes []hole
	depth int
}

// deepest bounds objects and lists within one another, as protobuf does.
const deepest = 100

func (d *jsonReader) value() (*node, error) {
	token, err := d.dec.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		// Bounded here, because value calls itself: a hostile file must not take the stack.
		if d.depth++; d.depth > deepest {
			return nil, fmt.Errorf("more than %d objects and lists within one another", deepest)
		}
		defer func() { d.depth-- }()
		if token == '[' {
			return d.list()
		}
		return d.object()
	case string:
		return d.text(token), nil
	case json.Number:
		return &node{kind: literalNode, literal: token.String()}, nil
	case bool:
		return &node{kind: literalNode, literal: strconv.FormatBool(token)}, nil
	}
	return &node{kind: literalNode, literal: "null"}, nil
}

func (d *jsonReader) list() (*node, error) {
	n := &node{kind: listNode}
	for d.dec.More() {
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		n.inner = append(n.inner, v)
		n.filled = n.filled || v.filled
	}
	_, err := d.dec.Token()
	return n, err
}

func (d *jsonReader) object() (*node, error) {
	n := &node{kind: objectNode}
	for d.dec.More() {
		token, err := d.dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		switch {
		case strings.Contains(name, d.mark):
			return nil, errors.New("the name of a field cannot come from data")
		// JSON leaves it open which of two members counts (RFC 8259, section 4).
		case slices.Contains(n.names, name):
			return nil, fmt.Errorf("field %.100q is there twice", name)
		}
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		n.names, n.inner = append(n.names, name), append(n.inner, v)
		n.filled = n.filled || v.filled
	}
	_, err := d.dec.Token()
	return n, err
}

// text splits a string at its marks.
func (d *jsonReader) text(s string) *node {
	n := &node{kind: textNode}
	for {
		before, rest, ok := strings.Cut(s, d.mark)
		if !ok {
			n.text = append(n.text, piece{text: s})
			return n
		}
		// The rune occurs nowhere else in the template, so marks always come in pairs.
		number, after, _ := strings.Cut(rest, d.mark)
		i, _ := strconv.Atoi(number) // written by markHoles
		n.text = append(n.text, piece{before, d.holes[i].data})
		n.filled, s = true, after
		if !d.holes[i].quoted {
			n.kind = bareNode
			return n
		}
	}
}

// scalar returns the pieces of a node, for values that data may fill in whole; ok is
// false for objects and lists.
func (n *node) scalar() (pieces []piece, ok bool) {
	switch n.kind {
	case textNode, bareNode:
		return n.text, true
	case literalNode:
		return []piece{{text: n.literal}}, true
	}
	return nil, false
}

// unquote turns a string that consists of one placeholder into a bare one.
func (n *node) unquote() {
	if n.kind == textNode && len(n.text) == 2 && n.text[0].text == "" && n.text[1].text == "" {
		n.kind, n.text = bareNode, n.text[:1]
	}
}

// appendJSON appends the node's JSON as pieces whose text is verbatim.
// Data within quotes must be escaped, which quoted says for each piece.
func (n *node) appendJSON(w *jsonPieces) {
	switch n.kind {
	case literalNode:
		w.text(n.literal)
	case bareNode:
		w.data(n.text[0].data, false)
	case textNode:
		w.text(`"`)
		for _, p := range n.text {
			// Escaped once here; only what comes from data is escaped for each request.
			quoted, _ := json.Marshal(p.text) // a string always marshals
			w.text(string(quoted[1 : len(quoted)-1]))
			if p.data != nil {
				w.data(p.data, true)
			}
		}
		w.text(`"`)
	case listNode, objectNode:
		open, end := "[", "]"
		if n.kind == objectNode {
			open, end = "{", "}"
		}
		w.text(open)
		for i, inner := range n.inner {
			if i > 0 {
				w.text(",")
			}
			if n.kind == objectNode {
				name, _ := json.Marshal(n.names[i])
				w.text(string(name) + ":")
			}
			inner.appendJSON(w)
		}
		w.text(end)
	}
}

// jsonPieces is JSON with holes.
type jsonPieces struct {
	pieces []piece
	quoted []bool // of each piece's data
}

func (w *jsonPieces) text(s string) {
	// Text is joined until data ends it: a message has as many pieces as placeholders.
	if last := len(w.pieces) - 1; last >= 0 && w.pieces[last].data == nil {
		w.pieces[last].text += s
		return
	}
	w.pieces, w.quoted = append(w.pieces, piece{text: s}), append(w.quoted, false)
}

func (w *jsonPieces) data(r *feeder.Renderer, quoted bool) {
	w.text("")
	last := len(w.pieces) - 1
	w.pieces[last].data, w.quoted[last] = r, quoted
}

// json returns the JSON of a node without data.
func (n *node) json() []byte {
	w := jsonPieces{}
	n.appendJSON(&w)
	return []byte(w.pieces[0].text)
}
