package histogram

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
)

// The compressed form of a histogram in an interval log, V2 of
// https://github.com/HdrHistogram/HdrHistogram (EncodableHistogram): a cookie,
// the length and a zlib stream in base64. The stream holds a header of 40 bytes
// and the counts as zigzag varints, where a negative number is a run of zeros.
//
// hdrhistogram-go reads and writes it too. It makes a new zlib writer (800 KB)
// for every interval and walks all buckets, 350 us each, in the process that
// drives the load at 50 intervals a second and more; this codec takes 5 to 20 us.
// A test compares the two.
const (
	hdrCompressed = 0x1c849304 | 0x10
	hdrPlain      = 0x1c849303 | 0x10
	hdrHeader     = 40

	// The geometry that follows from New's configuration, as in New of
	// hdrhistogram-go: values in units of 2^6 ns, in 2^11 linear steps for the
	// first bucket and 2^10 for each further one, which doubles the range.
	hdrUnit   = 6
	hdrHalf   = 10
	hdrCounts = 27 << hdrHalf
)

var errHdr = errors.New("no compressed histogram")

// Encoder encodes histograms of the one configuration.
type Encoder struct {
	plain  []byte
	packed bytes.Buffer
	zip    *zlib.Writer
	line   []byte
}

// Encoders keeps encoders that are not in use. A sync.Pool would lose them to the
// garbage collector, and each allocates 700 KB.
type Encoders struct {
	mu   sync.Mutex
	free []*Encoder
}

// Get returns an encoder that nothing else uses; Put returns it.
func (p *Encoders) Get() *Encoder {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		e := p.free[n-1]
		p.free = p.free[:n-1]
		return e
	}
	e := &Encoder{}
	// Counts and runs of zeros hardly form repeated sequences, but only a few bytes are
	// frequent: without searching for matches the stream is as short or shorter, in
	// half the time.
	e.zip, _ = zlib.NewWriterLevel(&e.packed, zlib.HuffmanOnly) // the level is valid
	return e
}

// Put takes an encoder back. As many are kept as were in use at once, which is
// one for each goroutine that writes histograms.
func (p *Encoders) Put(e *Encoder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, e)
}

// append appends the encoded form of c to dst.
func (e *Encoder) append(dst []byte, c *Counts) ([]byte, error) {
	b := append(e.plain[:0], make([]byte, hdrHeader)...)
	binary.BigEndian.PutUint32(b, hdrPlain)
	binary.BigEndian.PutUint32(b[12:], digits)
	binary.BigEndian.PutUint64(b[16:], uint64(lowest))
	binary.BigEndian.PutUint64(b[24:], uint64(Highest))
	binary.BigEndian.PutUint64(b[32:], math.Float64bits(1)) // ratio of integers to values
	if c.total > 0 {
		var err error
		if b, err = appendBuckets(b, hdrIndex(c.min), c.used()); err != nil {
			return nil, err
		}
	}
	e.plain = b
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-hdrHeader))

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

// appendBuckets appends counts that follow a number of empty buckets. A lone empty
// bucket is a count of 0, a run of them its negative length.
func appendBuckets(b []byte, empty int, counts []int64) ([]byte, error) {
	zeros := int64(empty)
	for _, count := range counts {
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
		if count < 0 || count >= 1<<55 { // beyond that, this varint has another form
			return nil, fmt.Errorf("a count of %d", count)
		}
		b = binary.AppendVarint(b, count)
	}
	return b, nil
}

// Decoder decodes histograms of the one configuration.
type Decoder struct {
	packed []byte
	plain  bytes.Buffer
	zip    io.ReadCloser
}

// maxPlain bounds the stream: a varint of nine bytes for each count.
const maxPlain = hdrHeader + 9*hdrCounts

// AddTo adds an encoded histogram to c. Its least and largest values are the ends of
// their buckets. On an error c is unchanged, or holds part of the values.
func (d *Decoder) AddTo(c *Counts, payload []byte) error {
	b, err := d.inflate(payload)
	if err != nil {
		return err
	}
	if binary.BigEndian.Uint32(b) != hdrPlain || int64(binary.BigEndian.Uint32(b[4:])) != int64(len(b)-hdrHeader) {
		return errHdr
	}
	if binary.BigEndian.Uint32(b[12:]) != digits || binary.BigEndian.Uint64(b[16:]) != uint64(lowest) ||
		binary.BigEndian.Uint64(b[24:]) != uint64(Highest) {
		return errors.New("the histogram is not of redline's configuration")
	}
	index := int64(0)
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
		if index >= hdrCounts || v > math.MaxInt64-c.total {
			return errHdr
		}
		if v > 0 {
			c.addBucket(int(index), v)
		}
		index++
	}
	return nil
}

// inflate returns the stream, valid until the next call.
func (d *Decoder) inflate(payload []byte) ([]byte, error) {
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
