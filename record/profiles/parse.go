package profiles

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/google/pprof/profile"
)

const (
	// mergedAtOnce is how many parsed profiles are in memory while they are merged.
	mergedAtOnce = 8
	// MaxUnpacked bounds an uncompressed profile, in bytes. A CPU profile of a minute of
	// a large service is below 2 MB.
	MaxUnpacked = 64 << 20
)

// Merge merges n profiles, read one by one, into one in the form that the runtime
// writes.
func Merge(n int, read func(i int) ([]byte, error)) ([]byte, error) {
	var parsed []*profile.Profile
	for i := range n {
		data, err := read(i)
		if err != nil {
			return nil, err
		}
		one, err := Parse(data)
		if err != nil {
			return nil, err
		}
		if parsed = append(parsed, one); len(parsed) < mergedAtOnce && i < n-1 {
			continue
		}
		all, err := profile.Merge(parsed)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed[:0], all)
	}
	var b bytes.Buffer
	err := parsed[0].Write(&b)
	return b.Bytes(), err
}

// Parse reads a pprof file, gzipped or not, of at most MaxUnpacked
// bytes unpacked. It unpacks within the bound before it parses: profile.Parse would
// unpack any size that a hostile file claims.
func Parse(data []byte) (*profile.Profile, error) {
	p, _, err := ParseSize(data)
	return p, err
}

// ParseSize is Parse that also returns the unpacked size in bytes.
func ParseSize(data []byte) (p *profile.Profile, size int64, err error) {
	if len(data) > 2 && data[0] == 0x1f && data[1] == 0x8b {
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, 0, fmt.Errorf("unpack: %w", err)
		}
		if data, err = io.ReadAll(io.LimitReader(unpacked, MaxUnpacked+1)); err != nil {
			return nil, 0, fmt.Errorf("unpack: %w", err)
		}
	}
	if len(data) > MaxUnpacked {
		return nil, 0, fmt.Errorf("larger than %d bytes unpacked", MaxUnpacked)
	}
	if err := boundProfile(data); err != nil {
		return nil, 0, err
	}
	p, err = profile.ParseUncompressed(data)
	return p, int64(len(data)), err
}
