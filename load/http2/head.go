package http2

import (
	"bytes"
	"slices"
	"strconv"

	"golang.org/x/net/http2/hpack"

	"github.com/redline-go/redline/load"
)

const (
	// maxHead bounds a head's block, and its fields once decoded: a block may
	// name a long field again in one byte.
	maxHead = 64 << 10
	// ownTable is the table that a peer may use until it took our settings.
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
	// Note is the handler's: what it found out about the head. It is nil at
	// first, and comes back whenever the same head does.
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

// heads decodes header blocks.
type heads struct {
	decoder *hpack.Decoder
	// stateless says that the peer uses no table, so that a block means the
	// same at any time. That begins with its telling so.
	stateless bool
	known     []knownHead
	last      int // in known, the one that came last
	oldest    int // in known, the next to be forgotten
}

type knownHead struct {
	block []byte
	head  *Head
}

// headerBlock is a header block that has not arrived in full.
type headerBlock struct {
	bytes  []byte
	stream uint32 // 0 when there is none
	end    bool   // END_STREAM was set
	size   int    // of its frames so far, for BytesIn
}

// find returns the head of a block that came before.
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

// decode returns what a block says. A malformed head is an error of its stream
// (*load.Failure), one that cannot be decoded is a *violation.
func (h *heads) decode(block []byte, keep []string) (*Head, error) {
	resizes := len(block) > 0 && block[0]&0xe0 == 0x20
	if h.stateless && !resizes {
		if head := h.find(block); head != nil {
			return head, nil
		}
	}
	r := headReader{head: &Head{Length: -1}, keep: keep}
	if h.decoder == nil {
		h.decoder = hpack.NewDecoder(ownTable, nil)
		h.decoder.SetMaxStringLength(maxHead)
	}
	h.decoder.SetEmitFunc(r.field)
	h.decoder.SetEmitEnabled(true)
	r.decoder = h.decoder
	_, err := h.decoder.Write(block)
	if err == nil {
		err = h.decoder.Close()
	}
	switch {
	case err == hpack.ErrStringLength || err == nil && r.size > maxHead:
		return nil, &violation{EnhanceYourCalm, errHeadTooLarge}
	case err != nil:
		return nil, violates(CompressionError, "a header block cannot be decoded: %v", err)
	case resizes:
		// Its last update counts, and is not looked for: one to zero is alone.
		h.stateless = block[0] == 0x20 && (len(block) == 1 || block[1]&0xe0 != 0x20)
	}
	if r.bad != "" {
		return nil, fault(load.KindBadResponse, "a malformed head: %s", r.bad)
	}
	if h.stateless && !resizes && len(block) <= longestKnown {
		h.remember(block, r.head)
	}
	return r.head, nil
}

var errHeadTooLarge = fault(load.KindHeaderTooLarge, "a head of more than %d bytes", maxHead)

func (h *heads) remember(block []byte, head *Head) {
	if len(h.known) < knownHeads {
		h.last = len(h.known)
		h.known = append(h.known, knownHead{bytes.Clone(block), head})
		return
	}
	h.last = h.oldest
	h.known[h.last] = knownHead{append(h.known[h.last].block[:0], block...), head}
	h.oldest = (h.oldest + 1) % knownHeads
}

// headReader makes a Head of fields.
type headReader struct {
	head    *Head
	keep    []string
	decoder *hpack.Decoder
	size    int
	regular bool   // a field that is no pseudo field came
	bad     string // what is malformed (RFC 9113, section 8.2 and 8.3)
}

func (r *headReader) field(f hpack.HeaderField) {
	if r.size += len(f.Name) + len(f.Value); r.size > maxHead {
		r.decoder.SetEmitEnabled(false) // enough; the table is kept up to date
		return
	}
	switch {
	case f.Name == ":status":
		status, err := strconv.ParseUint(f.Value, 10, 16)
		if err != nil || status < 100 || status > 999 || r.head.Status != 0 || r.regular {
			r.bad = "its :status is no status, or not alone and first"
		}
		r.head.Status = int(status)
		return
	case f.Name == "" || f.Name[0] == ':':
		r.bad = "a pseudo field that answers cannot have"
	case f.Name == "content-length":
		length, err := strconv.ParseUint(f.Value, 10, 63)
		if err != nil || r.head.Length >= 0 && r.head.Length != int64(length) {
			r.bad = "its content-length is no number, or given twice"
		}
		r.head.Length = int64(length)
	case f.Name == "connection" || f.Name == "transfer-encoding":
		r.bad = "field " + f.Name + ", which HTTP/2 does not have"
	}
	for i := range len(f.Name) {
		if c := f.Name[i]; c <= ' ' || c >= 'A' && c <= 'Z' || c >= 0x7f {
			r.bad = "the name of a field holds what it cannot"
		}
	}
	r.regular = true
	if slices.Contains(r.keep, f.Name) {
		r.head.Fields = append(r.head.Fields, f)
	}
}
