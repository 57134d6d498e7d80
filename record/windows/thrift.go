package windows

import (
	"encoding/binary"
	"errors"
)

// Parquet's metadata is Thrift in the compact protocol:
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
//
// It is parsed here, into a tree that is never larger than a fixed multiple of the
// input, because available decoders allocate a list as long as the file claims: 20
// hostile bytes ask for gigabytes, and no recover catches that.

// thriftValue is a field's value; which part is set follows from its type.
type thriftValue struct {
	number int64 // integers; 1 and 0 for booleans
	bytes  []byte
	list   []thriftValue
	fields []thriftField
}

type thriftField struct {
	id    int64
	value thriftValue
}

// field returns a field of a struct, the zero value when it is absent.
func (v *thriftValue) field(id int64) *thriftValue {
	for i := range v.fields {
		if v.fields[i].id == id {
			return &v.fields[i].value
		}
	}
	return &thriftValue{}
}

// Types of the compact protocol.
const (
	thriftStop, thriftTrue, thriftFalse, thriftByte          = 0, 1, 2, 3
	thriftI16, thriftI32, thriftI64, thriftDouble            = 4, 5, 6, 7
	thriftBinary, thriftList, thriftSet, thriftMap, thriftST = 8, 9, 10, 11, 12
)

const thriftDepth = 16

var errThrift = errors.New("the metadata is torn or no metadata")

// thriftReader parses b.
type thriftReader struct{ b []byte }

func (r *thriftReader) byte() (byte, error) {
	if len(r.b) == 0 {
		return 0, errThrift
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c, nil
}

func (r *thriftReader) varint() (int64, error) {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		return 0, errThrift
	}
	r.b = r.b[n:]
	return v, nil
}

func (r *thriftReader) length() (int, error) {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > uint64(len(r.b)-n) {
		return 0, errThrift // each element takes at least one byte
	}
	r.b = r.b[n:]
	return int(v), nil
}

// structure parses a struct, up to and with its stop byte.
func (r *thriftReader) structure(depth int) (thriftValue, error) {
	var v thriftValue
	if depth > thriftDepth {
		return v, errThrift
	}
	for id := int64(0); ; {
		head, err := r.byte()
		if err != nil || head == thriftStop {
			return v, err
		}
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else if id, err = r.varint(); err != nil {
			return v, err
		}
		value, err := r.value(head&15, depth, false)
		if err != nil {
			return v, err
		}
		v.fields = append(v.fields, thriftField{id, value})
	}
}

// value parses one value. A boolean is in its type as a field, and a byte in
// a list.
func (r *thriftReader) value(typ byte, depth int, inList bool) (v thriftValue, err error) {
	switch typ {
	case thriftTrue, thriftFalse:
		if inList {
			typ, err = r.byte()
		}
		if typ == thriftTrue {
			v.number = 1
		}
	case thriftByte:
		var c byte
		c, err = r.byte()
		v.number = int64(int8(c))
	case thriftI16, thriftI32, thriftI64:
		v.number, err = r.varint()
	case thriftDouble:
		if len(r.b) < 8 {
			return v, errThrift
		}
		r.b = r.b[8:] // doubles are not needed here
	case thriftBinary:
		var n int
		if n, err = r.length(); err == nil {
			v.bytes, r.b = r.b[:n], r.b[n:]
		}
	case thriftList, thriftSet:
		v.list, err = r.elements(depth)
	case thriftST:
		v, err = r.structure(depth + 1)
	default: // maps occur nowhere in Parquet's metadata
		err = errThrift
	}
	return v, err
}

func (r *thriftReader) elements(depth int) ([]thriftValue, error) {
	if depth > thriftDepth {
		return nil, errThrift
	}
	head, err := r.byte()
	if err != nil {
		return nil, err
	}
	n := int(head >> 4)
	if n == 15 {
		if n, err = r.length(); err != nil {
			return nil, err
		}
	}
	var list []thriftValue // grown as elements come: the count may lie
	for range n {
		v, err := r.value(head&15, depth+1, true)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
