package redact

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/google/pprof/profile"               // the format's own reader
	"google.golang.org/protobuf/encoding/protowire" // walks a message without making anything of it
)

// Bounds on a profile's contents, because the parser turns a message of two bytes into a
// few hundred: 64 MB of empty samples would become 6 GB. The profile of a minute of a
// large service has below 2 MB unpacked, some 20,000 samples and 30,000 locations; one with
// 100,000 stacks that each end in a different function has 600,000 messages.
const (
	maxUnpacked        = 64 << 20  // bytes
	maxProfileMessages = 1_000_000 // samples, locations, their lines, functions, mappings, labels and strings
	maxProfileNumbers  = 4_000_000 // references to locations, and values
)

// ParseProfile reads a pprof file, gzipped or not, within bounds, and returns its unpacked
// size in bytes. It unpacks within the bound before it parses: profile.Parse would unpack
// any size that a hostile file claims.
//
// The bounds are here because the redactor is the first to parse a profile of a target,
// and imports no package of redline's that could hold them.
func ParseProfile(data []byte) (p *profile.Profile, size int64, err error) {
	if gzipped(data) {
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, 0, fmt.Errorf("unpack: %w", err)
		}
		if data, err = io.ReadAll(io.LimitReader(unpacked, maxUnpacked+1)); err != nil {
			return nil, 0, fmt.Errorf("unpack: %w", err)
		}
	}
	if len(data) > maxUnpacked {
		return nil, 0, fmt.Errorf("larger than %d bytes unpacked", maxUnpacked)
	}
	if err := boundProfile(data); err != nil {
		return nil, 0, err
	}
	p, err = profile.ParseUncompressed(data)
	return p, int64(len(data)), err
}

func gzipped(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

// Fields of https://github.com/google/pprof/blob/main/proto/profile.proto.
const (
	profileSampleType, profileSample, profileMapping = 1, 2, 3
	profileLocation, profileFunction, profileString  = 4, 5, 6
	sampleLabels, locationLines                      = 3, 4
)

// profileSize counts a profile's contents.
type profileSize struct{ messages, numbers int }

// boundProfile refuses a profile that would take more memory than it is worth. Data that
// is not a profile is left to the parser.
func boundProfile(data []byte) error {
	var size profileSize
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil
		}
		data = data[n:]
		if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
			return nil
		}
		size.field(number, kind, data[:n])
		data = data[n:]
		switch {
		case size.messages > maxProfileMessages:
			return fmt.Errorf("more than %d samples, locations and names", maxProfileMessages)
		case size.numbers > maxProfileNumbers:
			return fmt.Errorf("stacks and values of more than %d entries", maxProfileNumbers)
		}
	}
	return nil
}

func (s *profileSize) field(number protowire.Number, kind protowire.Type, value []byte) {
	if kind != protowire.BytesType {
		s.numbers++ // of a list that is not packed
		return
	}
	body, _ := protowire.ConsumeBytes(value)
	switch number {
	case profileSample:
		s.messages++
		s.within(body, sampleLabels)
	case profileLocation:
		s.messages++
		s.within(body, locationLines)
	case profileSampleType, profileMapping, profileFunction, profileString:
		s.messages++
	default: // comments, packed
		s.numbers += varints(body)
	}
}

// within counts a message's contents: messages of the field nested, and numbers.
func (s *profileSize) within(body []byte, nested protowire.Number) {
	for len(body) > 0 {
		number, kind, n := protowire.ConsumeTag(body)
		if n < 0 {
			return
		}
		body = body[n:]
		if n = protowire.ConsumeFieldValue(number, kind, body); n < 0 {
			return
		}
		switch {
		case kind != protowire.BytesType:
			s.numbers++
		case number == nested:
			s.messages++
		default:
			list, _ := protowire.ConsumeBytes(body[:n])
			s.numbers += varints(list)
		}
		body = body[n:]
	}
}

// varints counts the numbers of a packed list: each ends in a byte below 0x80.
func varints(list []byte) (n int) {
	for _, c := range list {
		if c < 0x80 {
			n++
		}
	}
	return n
}
