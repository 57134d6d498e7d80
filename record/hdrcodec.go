package record

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The compressed form of a histogram in an interval log, V2 of
// https://github.com/HdrHistogram/HdrHistogram (EncodableHistogram): a cookie,
// the length and a zlib stream in base64. The stream holds a header of 40 bytes
// and the counts as zigzag varints, where a negative number is a run of zeros.
//
// hdrhistogram-go reads and writes it too. It makes a new zlib writer (800 KB)
// for every interval, 350 us each, in the process that drives the load at 50
// intervals a second and more; this codec uses its buffers again. A test holds
// the two against each other.
const (
	hdrCompressed = 0x1c849304 | 0x10
	hdrPlain      = 0x1c849303 | 0x10
	hdrHeader     = 40

	// The geometry that NewHistogram's configuration gives, as in New of
	// hdrhistogram-go: values in units of 2^6 ns, in 2^11 linear steps for the
	// first bucket and 2^10 for each that doubles the range.
	hdrUnit   = 6
	hdrHalf   = 10
	hdrCounts = 27 << hdrHalf
)

var errHdr = errors.New("no compressed histogram")

// hdrEncoder encodes histograms of the one configuration.
type hdrEncoder struct {
	plain  []byte
	packed bytes.Buffer
	zip    *zlib.Writer
}

// encoders keeps the buffers of encoders that are not in use.
type encoders struct{ pool sync.Pool }

func (p *encoders) get() *hdrEncoder {
	if e, ok := p.pool.Get().(*hdrEncoder); ok {
		return e
	}
	e := &hdrEncoder{}
	// Speed over size: a line of 1,000 latencies is 5 % longer than at best
	// compression and takes a fifth of the time.
	e.zip, _ = zlib.NewWriterLevel(&e.packed, zlib.BestSpeed) // the level is valid
	return e
}

// append appends the encoded form of h to dst.
func (e *hdrEncoder) append(dst []byte, h *hdrhistogram.Histogram) ([]byte, error) {
	s := h.Export()
	if s.LowestTrackableValue != HistogramLowest || s.HighestTrackableValue != HistogramHighest ||
		s.SignificantFigures != HistogramDigits || len(s.Counts) != hdrCounts {
		return nil, errors.New("the histogram is not of the configuration of NewHistogram")
	}
	b := append(e.plain[:0], make([]byte, hdrHeader)...)
	zeros := int64(0)
	for _, count := range s.Counts {
		if count == 0 {
			zeros++
			continue
		}
		if zeros == 1 {
			b = append(b, 0)
		} else if zeros > 1 {
			b = binary.AppendVarint(b, -zeros)
		}
		zeros = 0
		if count < 0 || count >= 1<<55 { // beyond, this varint's form is another
			return nil, fmt.Errorf("a count of %d", count)
		}
		b = binary.AppendVarint(b, count)
	}
	e.plain = b
	binary.BigEndian.PutUint32(b, hdrPlain)
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-hdrHeader))
	binary.BigEndian.PutUint32(b[12:], HistogramDigits)
	binary.BigEndian.PutUint64(b[16:], uint64(HistogramLowest))
	binary.BigEndian.PutUint64(b[24:], uint64(HistogramHighest))
	binary.BigEndian.PutUint64(b[32:], math.Float64bits(1)) // ratio of integers to values

	e.packed.Reset()
	e.packed.Write(make([]byte, 8))
	e.zip.Reset(&e.packed)
	if _, err := e.zip.Write(b); err != nil {
		return nil, err
	}
	if err := e.zip.Close(); err != nil {
		return nil, err
	}
	packed := e.packed.Bytes()
	binary.BigEndian.PutUint32(packed, hdrCompressed)
	binary.BigEndian.PutUint32(packed[4:], uint32(len(packed)-8))
	return base64.StdEncoding.AppendEncode(dst, packed), nil
}

// hdrDecoder decodes histograms of the one configuration.
type hdrDecoder struct {
	packed []byte
	plain  bytes.Buffer
	zip    io.ReadCloser
}

// maxPlain bounds the stream: a varint of nine bytes for each count.
const maxPlain = hdrHeader + 9*hdrCounts

// addTo adds the counts of an encoded histogram to h, which must be of the
// configuration of NewHistogram. On an error h may hold a part of them.
func (d *hdrDecoder) addTo(h *hdrhistogram.Histogram, payload []byte) error {
	b, err := d.inflate(payload)
	if err != nil {
		return err
	}
	if binary.BigEndian.Uint32(b) != hdrPlain || int64(binary.BigEndian.Uint32(b[4:])) != int64(len(b)-hdrHeader) {
		return errHdr
	}
	if binary.BigEndian.Uint32(b[12:]) != HistogramDigits || binary.BigEndian.Uint64(b[16:]) != uint64(HistogramLowest) ||
		binary.BigEndian.Uint64(b[24:]) != uint64(HistogramHighest) {
		return errors.New("the histogram is not of redline's configuration")
	}
	index, total := int64(0), h.TotalCount()
	for b = b[hdrHeader:]; len(b) > 0; {
		v, n := binary.Varint(b)
		if n <= 0 || n > 8 { // the ninth byte has another form, and no true count
			return errHdr
		}
		b = b[n:]
		if v < 0 {
			index -= v
			if index > hdrCounts {
				return errHdr
			}
			continue
		}
		if index >= hdrCounts || v > math.MaxInt64-total {
			return errHdr
		}
		if v > 0 {
			if err := h.RecordValues(hdrValue(index), v); err != nil {
				return err
			}
			total += v
		}
		index++
	}
	return nil
}

// inflate returns the stream, valid until the next call.
func (d *hdrDecoder) inflate(payload []byte) ([]byte, error) {
	var err error
	if d.packed, err = base64.StdEncoding.AppendDecode(d.packed[:0], payload); err != nil {
		return nil, err
	}
	if len(d.packed) < 8 || binary.BigEndian.Uint32(d.packed) != hdrCompressed ||
		int64(binary.BigEndian.Uint32(d.packed[4:])) > int64(len(d.packed)-8) {
		return nil, errHdr
	}
	r := bytes.NewReader(d.packed[8 : 8+binary.BigEndian.Uint32(d.packed[4:])])
	if d.zip == nil {
		if d.zip, err = zlib.NewReader(r); err != nil {
			d.zip = nil
			return nil, err
		}
	} else if err := d.zip.(zlib.Resetter).Reset(r, nil); err != nil {
		return nil, err
	}
	d.plain.Reset()
	if _, err := d.plain.ReadFrom(io.LimitReader(d.zip, maxPlain+1)); err != nil {
		return nil, err
	}
	if n := d.plain.Len(); n < hdrHeader || n > maxPlain {
		return nil, errHdr
	}
	return d.plain.Bytes(), nil
}

// hdrValue is the lowest value of the bucket that an index counts.
func hdrValue(index int64) int64 {
	bucket, sub := index>>hdrHalf-1, index&(1<<hdrHalf-1)+1<<hdrHalf
	if bucket < 0 {
		bucket, sub = 0, sub-1<<hdrHalf
	}
	return sub << (bucket + hdrUnit)
}
