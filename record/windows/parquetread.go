package windows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd" // the decoder under parquet-go, here with a bound on its output

	"github.com/redline-go/redline/record/series"
)

// What ReadParquet knows of Parquet is what WriteParquet writes:
// https://github.com/apache/parquet-format (file layout, page headers, and the
// RLE/bit-packing hybrid of dictionary indices).
//
// It knows only that form: version 1 data pages, required columns, zstd, plain or
// dictionary encoding. parquet-go would read any, but trusts the sizes in a file (lists,
// pages, runs, zstd frames), and a bundle may come from anyone.
const (
	maxFooter     = 1 << 20  // bytes of metadata; a writer's takes 1 KB per row group
	maxGroupRows  = 1 << 20  // rows of a row group
	maxChunk      = 32 << 20 // compressed bytes of one column of a row group
	maxPage       = 32 << 20 // bytes of a page
	parquetMagic  = "PAR1"
	codecNone     = 0
	codecZstd     = 6
	typeInt64     = 2
	typeDouble    = 5
	typeBytes     = 6
	encodingPlain = 0
	encodingPDict = 2 // older name of the dictionary's own indices
	encodingDict  = 8
	pageData      = 0
	pageDict      = 2
)

// chunk is the decoded column of one row group: values of its type, and the
// index of each row's value among them when it is dictionary encoded.
type chunk struct {
	ints    []int64
	doubles []float64
	texts   []string
	indices []uint32
	rows    int // rows decoded so far
	dict    bool
}

// at returns the position of a row's value in ints, doubles or texts.
func (c *chunk) at(row int) int {
	if c.dict {
		return int(c.indices[row])
	}
	return row
}

// ReadParquet adds the rows of a file of size bytes to t, which must be finished
// afterwards. An error leaves t with some of them.
func ReadParquet(r io.ReaderAt, size int64, t *Table) error {
	meta, err := readFooter(r, size)
	if err != nil {
		return err
	}
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
	if err != nil {
		return err
	}
	defer unzip.Close()
	d := parquetDecoder{file: r, size: size, unzip: unzip, width: int64(t.width)}
	for g := range meta.field(4).list {
		if err := d.rowGroup(&meta.field(4).list[g], t); err != nil {
			return fmt.Errorf("row group %d: %w", g, err)
		}
	}
	return nil
}

func readFooter(r io.ReaderAt, size int64) (*thriftValue, error) {
	var tail [8]byte
	if size < int64(len(tail)+len(parquetMagic)) {
		return nil, errors.New("too short for a Parquet file")
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) != parquetMagic {
		return nil, errors.New("the end of a Parquet file is missing")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > maxFooter || n > size-12 {
		return nil, fmt.Errorf("metadata of %d bytes, at most %d are allowed", n, min(maxFooter, size-12))
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-8-n); err != nil {
		return nil, err
	}
	meta, err := (&thriftReader{footer}).structure(0)
	return &meta, err
}

// parquetDecoder decodes row groups; it reuses its buffer.
type parquetDecoder struct {
	file  io.ReaderAt
	size  int64
	unzip *zstd.Decoder
	page  []byte
	width int64 // of a window, ns
}

func (d *parquetDecoder) rowGroup(group *thriftValue, t *Table) error {
	rows := group.field(3).number
	if rows < 0 || rows > maxGroupRows {
		return fmt.Errorf("%d rows, at most %d are allowed", rows, maxGroupRows)
	}
	columns := map[string]*chunk{}
	types := map[string]int64{
		"window": typeInt64, "series": typeBytes, "labels": typeBytes, "unit": typeBytes, "value": typeDouble,
		"width_ns": typeInt64, "windows": typeInt64,
	}
	for i := range group.field(1).list {
		meta := group.field(1).list[i].field(3)
		if len(meta.field(3).list) != 1 {
			continue // a nested column is none of ours
		}
		name := string(meta.field(3).list[0].bytes)
		typ, ours := types[name]
		if !ours || columns[name] != nil {
			continue
		}
		if meta.field(1).number != typ {
			return fmt.Errorf("column %s has type %d instead of %d", name, meta.field(1).number, typ)
		}
		c, err := d.column(meta, int(rows))
		if err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
		columns[name] = c
	}
	for name := range types {
		// Bundles of earlier versions have no joined windows.
		if columns[name] == nil && name != "width_ns" && name != "windows" {
			return fmt.Errorf("column %s is missing", name)
		}
	}
	return fillTable(t, columns, int(rows), d.width)
}

// fillTable moves the rows of a group to t. Rows of one series follow each
// other, so the series is looked up only where it changes.
func fillTable(t *Table, columns map[string]*chunk, rows int, window int64) error {
	first, value := columns["window"], columns["value"]
	name, labels, unit := columns["series"], columns["labels"], columns["unit"]
	width, windows := columns["width_ns"], columns["windows"]
	if (width == nil) != (windows == nil) {
		return errors.New("of the columns width_ns and windows one is missing")
	}
	last, index := [3]int{-1, -1, -1}, 0
	factor, count := int64(1), int64(1)
	for row := range rows {
		key := [3]int{name.at(row), labels.at(row), unit.at(row)}
		if key != last {
			s := series.Series{Name: name.texts[key[0]], Labels: labels.texts[key[1]], Unit: unit.texts[key[2]]}
			var err error
			if index, err = t.define(s); err != nil {
				return err
			}
			last = key
		}
		if width != nil {
			factor, count = width.ints[width.at(row)]/window, windows.ints[windows.at(row)]
			if count < 1 || count > MaxFactor {
				return fmt.Errorf("a value joined from %d windows", count)
			}
		}
		if err := t.addJoined(index, first.ints[first.at(row)], value.doubles[value.at(row)], factor, uint16(count)); err != nil {
			return err
		}
	}
	return nil
}

// column reads the pages of one column of a row group.
func (d *parquetDecoder) column(meta *thriftValue, rows int) (*chunk, error) {
	start, length := meta.field(9).number, meta.field(7).number
	if dict := meta.field(11).number; dict > 0 {
		start = min(start, dict)
	}
	if start < 0 || length < 0 || length > maxChunk || start > d.size-length {
		return nil, fmt.Errorf("%d bytes at %d do not lie in the file or are over %d", length, start, maxChunk)
	}
	b := make([]byte, length)
	if _, err := d.file.ReadAt(b, start); err != nil {
		return nil, err
	}
	c := &chunk{}
	for c.rows < rows {
		r := thriftReader{b}
		header, err := r.structure(0)
		if err != nil {
			return nil, err
		}
		packed := header.field(3).number
		if packed < 0 || packed > int64(len(r.b)) {
			return nil, errors.New("a page is longer than its column")
		}
		page, err := d.unpack(r.b[:packed], meta.field(4).number, header.field(2).number)
		if err != nil {
			return nil, err
		}
		b = r.b[packed:]
		switch header.field(1).number {
		case pageDict:
			err = c.dictionary(page, meta.field(1).number, header.field(7))
		case pageData:
			err = c.data(page, meta.field(1).number, header.field(5), rows)
		default:
			err = fmt.Errorf("page type %d is never written by redline", header.field(1).number)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// unpack returns the content of a page, valid until the next call.
func (d *parquetDecoder) unpack(packed []byte, codec, size int64) ([]byte, error) {
	if size < 0 || size > maxPage {
		return nil, fmt.Errorf("a page of %d bytes, at most %d are allowed", size, maxPage)
	}
	switch codec {
	case codecNone:
		return packed, nil
	case codecZstd:
		var err error
		if d.page, err = d.unzip.DecodeAll(packed, d.page[:0]); err != nil {
			return nil, err
		}
		return d.page, nil
	}
	return nil, fmt.Errorf("compression %d is never written by redline", codec)
}

func (c *chunk) dictionary(page []byte, typ int64, header *thriftValue) error {
	n := header.field(1).number
	if c.dict || c.rows > 0 {
		return errors.New("a second or late dictionary")
	}
	if e := header.field(2).number; e != encodingPlain && e != encodingPDict {
		return fmt.Errorf("encoding %d of the dictionary is never written by redline", e)
	}
	c.dict = true
	return c.plain(page, typ, n)
}

func (c *chunk) data(page []byte, typ int64, header *thriftValue, rows int) error {
	n := header.field(1).number
	if n <= 0 || n > int64(rows-c.rows) {
		return fmt.Errorf("a page of %d values in a column that has %d left", n, rows-c.rows)
	}
	switch e := header.field(2).number; {
	case e == encodingPlain && !c.dict:
		if err := c.plain(page, typ, n); err != nil {
			return err
		}
	case (e == encodingDict || e == encodingPDict) && c.dict:
		if err := c.hybrid(page, int(n), len(c.ints)+len(c.doubles)+len(c.texts)); err != nil {
			return err
		}
	default:
		return fmt.Errorf("encoding %d is never written by redline here", e)
	}
	c.rows += int(n)
	return nil
}

var errShortPage = errors.New("a page is shorter than its values")

// plain appends n values.
func (c *chunk) plain(page []byte, typ, n int64) error {
	if n < 0 || n > int64(len(page)) {
		return errShortPage
	}
	if typ != typeBytes && n > int64(len(page)/8) {
		return errShortPage
	}
	for range n {
		switch typ {
		case typeInt64:
			c.ints = append(c.ints, int64(binary.LittleEndian.Uint64(page)))
			page = page[8:]
		case typeDouble:
			c.doubles = append(c.doubles, math.Float64frombits(binary.LittleEndian.Uint64(page)))
			page = page[8:]
		default:
			if len(page) < 4 {
				return errShortPage
			}
			length := binary.LittleEndian.Uint32(page)
			if length > series.MaxSeriesText || int(length) > len(page)-4 {
				return errShortPage
			}
			c.texts = append(c.texts, string(page[4:4+length]))
			page = page[4+length:]
		}
	}
	return nil
}

// hybrid appends n indices below limit: a byte with their width in bits, then runs. A
// run's header is a uvarint; if it is even, half of it is how often the one value that
// follows is repeated, else half of it is how many groups of eight packed values
// follow.
func (c *chunk) hybrid(page []byte, n, limit int) error {
	if len(page) == 0 || page[0] > 32 {
		return errShortPage
	}
	width := int(page[0])
	page = page[1:]
	for n > 0 {
		header, k := binary.Uvarint(page)
		if k <= 0 {
			return errShortPage
		}
		page = page[k:]
		if header&1 == 0 {
			bytes := (width + 7) / 8
			count := int(min(header>>1, uint64(n)))
			if len(page) < bytes || count == 0 {
				return errShortPage
			}
			v := bits(page[:bytes], 0, width)
			if v >= uint64(limit) {
				return errShortPage
			}
			for range count {
				c.indices = append(c.indices, uint32(v))
			}
			page, n = page[bytes:], n-count
			continue
		}
		count := int(min(header>>1, uint64(n+7)/8)) * 8
		bytes := count / 8 * width
		if len(page) < bytes || count == 0 {
			return errShortPage
		}
		for i := range min(count, n) {
			v := bits(page[:bytes], i*width, width)
			if v >= uint64(limit) {
				return errShortPage
			}
			c.indices = append(c.indices, uint32(v))
		}
		page, n = page[bytes:], n-min(count, n)
	}
	return nil
}

// bits returns width bits of b from the given bit on, lowest first.
func bits(b []byte, from, width int) (v uint64) {
	for i := from; i < from+width; {
		take := min(8-i%8, from+width-i)
		part := uint64(b[i/8]) >> (i % 8) & (1<<take - 1)
		v |= part << (i - from)
		i += take
	}
	return v
}
