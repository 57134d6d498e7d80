package http2

import (
	"bytes"

	"golang.org/x/net/http2/hpack"

	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/failure"
)

const (
	// maxHead bounds a head's block, and its fields once decoded: a block may refer to
	// a long field in one byte.
	maxHead = 64 << 10
	// ownTable is the table that a peer may use until it has our settings.
	ownTable = 4096
	// knownHeads is how many heads are remembered, and longestKnown the longest.
	// Targets answer with few different ones within a second, in which their
	// Date stays the same.
	knownHeads   = 8
	longestKnown = 1 << 10
)

// Head is a head or the trailers of an answer.
type Head struct {
	Status int                 // 0 for trailers
	Length int64               // of Content-Length; -1 when there is none
	Fields []hpack.HeaderField // those of Config.Keep, in their order on the wire
	// Note belongs to the handler, which may store its result for the head. It is nil at
	// first, and kept for identical heads.
	Note any
}

// Value returns the first value of a field that was kept; empty when there is none.
func (h *Head) Value(name string) string {
	for i := range h.Fields {
		if h.Fields[i].Name == name {
			return h.Fields[i].Value
		}
	}
	return ""
}

// Check passes the fields that were kept to an answer's checks. name and value are room for them, and
// returned for the next time: the checks take bytes and the head holds strings, so that a conversion
// would allocate for each field.
func (h *Head) Check(by *check.Answer, name, value []byte) (usedName, usedValue []byte) {
	for i := range h.Fields {
		name, value = append(name[:0], h.Fields[i].Name...), append(value[:0], h.Fields[i].Value...)
		by.Header(name, value)
	}
	return name, value
}

// heads decodes header blocks.
type heads struct {
	// known are heads whose blocks mean the same at any time. The peer's table
	// has no part in them.
	known  []knownHead
	last   int // in known, the one that came last
	oldest int // in known, the next to be forgotten

	// stateless says that the peer's table is empty and stays so, as the peer has
	// declared.
	stateless bool
	decoder   *hpack.Decoder // of peers that use a table; nil until one does
	reader    headReader
	long      Head // of the block that came last and is too long to be remembered
}

type knownHead struct {
	block []byte
	head  *Head
}

// anew returns heads for the next connection, which reuse the buffers.
func (h *heads) anew() heads {
	next := heads{known: h.known, reader: h.reader, long: h.long}
	next.forget()
	return next
}

// find returns the head of a block that came before.
// Comparing bytes beats decoding: within a second most answers have the very same block.
func (h *heads) find(block []byte) *Head {
	if h.last < len(h.known) && bytes.Equal(h.known[h.last].block, block) {
		return h.known[h.last].head
	}
	for i := range h.known {
		if bytes.Equal(h.known[i].block, block) {
			h.last = i
			return h.known[i].head
		}
	}
	return nil
}

// decode returns a block's content, valid until the next call. A malformed head is an
// error of its stream (*failure.Error), one that cannot be decoded a *violation.
func (h *heads) decode(block []byte, keep []string) (*Head, error) {
	if head := h.find(block); head != nil {
		return head, nil
	}
	r := &h.reader
	r.begin(&h.long, keep)
	alone := r.walk(block, h.stateless)
	if !alone {
		// From the beginning: walk has taken the fields before the one that needs the table.
		r.begin(&h.long, keep)
		if err := h.decodeWithTable(block); err != nil {
			return nil, violates(CompressionError, "a header block cannot be decoded: %v", err)
		}
	}
	switch {
	case r.size > maxHead:
		return nil, &violation{EnhanceYourCalm, errHeadTooLarge}
	case r.bad != "":
		return nil, failure.New(failure.BadResponse, "a malformed head: %s", r.bad)
	case alone && len(block) <= longestKnown:
		return h.remember(block), nil
	}
	return &h.long, nil
}

var errHeadTooLarge = failure.New(failure.HeaderTooLarge, "a head of more than %d bytes", maxHead)

// decodeWithTable decodes a block of a peer that uses a table, or sends its size.
func (h *heads) decodeWithTable(block []byte) error {
	if h.decoder == nil {
		h.decoder = hpack.NewDecoder(ownTable, nil)
		h.decoder.SetMaxStringLength(maxHead)
		h.decoder.SetEmitFunc(func(f hpack.HeaderField) {
			h.reader.field([]byte(f.Name), []byte(f.Value))
			if h.reader.size > maxHead {
				h.decoder.SetEmitEnabled(false) // enough; the table is kept up to date
			}
		})
	}
	h.decoder.SetEmitEnabled(true)
	_, err := h.decoder.Write(block)
	if err == nil {
		err = h.decoder.Close()
	}
	if err == hpack.ErrStringLength {
		h.reader.size, err = maxHead+1, nil
	}
	if len(block) > 0 && block[0]&0xe0 == 0x20 {
		// Of several sizes the last one counts. Only one is handled: peers that received
		// zero send zero, once.
		h.stateless = block[0] == 0x20 && (len(block) == 1 || block[1]&0xe0 != 0x20)
		if h.forget(); h.stateless {
			h.decoder = nil // most likely it is not needed any more
		}
	}
	return err
}

// remember keeps the head that was decoded last, and returns it.
func (h *heads) remember(block []byte) *Head {
	if len(h.known) < knownHeads {
		h.last = len(h.known)
		h.known = append(h.known, knownHead{head: &Head{}})
	} else {
		h.last = h.oldest
		h.oldest = (h.oldest + 1) % knownHeads
	}
	k := &h.known[h.last]
	k.block = append(k.block[:0], block...)
	*k.head, h.long = h.long, *k.head // and so do their rooms for fields
	return k.head
}

// forget forgets blocks: whether they are free of the table has changed.
func (h *heads) forget() { h.known, h.last, h.oldest = h.known[:0], 0, 0 }

// headReader makes a Head of fields.
type headReader struct {
	head        *Head
	keep        []string
	size        int
	regular     bool   // a field other than a pseudo-header came
	bad         string // the malformed part; RFC 9113, sections 8.2 and 8.3
	name, value scratch
}

func (r *headReader) begin(head *Head, keep []string) {
	*head = Head{Length: -1, Fields: head.Fields[:0]}
	r.head, r.keep, r.size, r.regular, r.bad = head, keep, 0, false, ""
}

// looksAt reports whether the value of a field matters.
func (r *headReader) looksAt(name []byte) bool {
	return string(name) == ":status" || string(name) == "content-length" || r.keeps(name) != ""
}

func (r *headReader) keeps(name []byte) string {
	for _, kept := range r.keep {
		if string(name) == kept {
			return kept
		}
	}
	return ""
}

// field takes a field. Its value is ignored unless looksAt.
func (r *headReader) field(name, value []byte) {
	r.size += len(name) + len(value)
	switch {
	case string(name) == ":status":
		status, ok := decimal(value)
		// RFC 9113, section 8.3.2: exactly one, and section 8.3: before all fields that are not
		// pseudo-headers.
		if !ok || status < 100 || status > 999 || r.head.Status != 0 || r.regular {
			r.bad = "its :status is invalid, repeated, or not first"
		}
		r.head.Status = int(status)
		return
	case len(name) == 0 || name[0] == ':':
		r.bad = "a pseudo field that answers cannot have"
		return
	case string(name) == "content-length":
		length, ok := decimal(value)
		if !ok || r.head.Length >= 0 && r.head.Length != length {
			r.bad = "its content-length is not a number, or repeated with another value"
		}
		r.head.Length = length
	case string(name) == "connection" || string(name) == "transfer-encoding":
		r.bad = "a field " + string(name) + ", which HTTP/2 does not have"
	}
	for _, c := range name {
		// Section 8.2.1: names are in lower case, without blanks and control characters.
		if c <= ' ' || c >= 'A' && c <= 'Z' || c >= 0x7f {
			r.bad = "a field name contains an invalid character"
		}
	}
	r.regular = true
	if kept := r.keeps(name); kept != "" {
		r.head.Fields = append(r.head.Fields, hpack.HeaderField{Name: kept, Value: string(value)})
	}
}

// decimal reads a number of digits only.
func decimal(text []byte) (int64, bool) {
	// 18 digits fit into an int64 whatever they are; no body is longer.
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
