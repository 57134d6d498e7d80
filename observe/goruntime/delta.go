package goruntime

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile" // parses, checks and merges profiles; differences are merges with Scale(-1)

	"github.com/redline-go/redline/record/timebase"
)

// parse parses a profile from the target: bounded before and after
// decompression (profile.Parse bounds neither), and checked.
func parse(data []byte) (*profile.Profile, error) {
	if len(data) > maxProfile {
		return nil, fmt.Errorf("profile of %d bytes: %w", len(data), errTooLarge)
	}
	raw, err := inflate(data, maxInflate)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	p, err := profile.ParseUncompressed(raw)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if err := p.CheckValid(); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if len(p.SampleType) == 0 {
		return nil, errors.New("profile: it has no sample type (is it a profile?)")
	}
	return p, nil
}

// inflate decompresses data if it is compressed, up to limit bytes.
func inflate(data []byte, limit int64) ([]byte, error) {
	if len(data) < 2 || data[0] != 0x1f || data[1] != 0x8b {
		return data, nil
	}
	unzip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(unzip, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("decompressed: %w of %d bytes", errTooLarge, limit)
	}
	return raw, err
}

// shot is one snapshot, parsed.
type shot struct {
	capture
	profile *profile.Profile
}

// take parses a snapshot and dates it more closely: the runtime gathers a
// profile first and stamps it then, so the gathering lies between the begin of
// the bracket and the stamp. The stamp is the target's wall clock; one that does
// not lie in the bracket is another host's, and is not used.
func take(c capture, clock timebase.Clock) (shot, error) {
	p, err := parse(c.data)
	if err != nil {
		return shot{}, err
	}
	if stamp := clock.FromWall(time.Unix(0, p.TimeNanos)); stamp > c.span.From && stamp < c.span.To {
		c.span.To = stamp
		c.err = c.span.Len() / 2
	}
	return shot{c, p}, nil
}

// at is the instant of a snapshot.
func (s shot) at() time.Duration { return s.span.From + s.span.Len()/2 }

// date dates a CPU profile by its own times, where that agrees with
// the bracket around it.
func date(c capture, p *profile.Profile, bracket timebase.Span, clock timebase.Clock) capture {
	from := clock.FromWall(time.Unix(0, p.TimeNanos))
	own := timebase.Span{From: from, To: from + time.Duration(p.DurationNanos)}
	if p.DurationNanos > 0 && own.From >= bracket.From && own.To <= bracket.To {
		c.span, c.err = own, clock.EpochError
	}
	return c
}

// difference returns the amounts added between two snapshots of a cumulative
// profile. It is an error when a counter fell: then the target was another
// process.
func difference(first, last shot, typ string) (*profile.Profile, error) {
	before := first.profile.Copy()
	before.Scale(-1)
	d, err := profile.Merge([]*profile.Profile{last.profile, before})
	if err != nil {
		return nil, fmt.Errorf("difference of %s profiles: %w", typ, err)
	}
	d.TimeNanos = first.profile.TimeNanos
	d.DurationNanos = int64(last.at() - first.at())
	if typ == "allocs" {
		d.DefaultSampleType = "alloc_space"
	}
	for i, t := range d.SampleType {
		// A heap profile also holds the memory in use, which may well fall.
		if strings.HasPrefix(t.Type, "inuse_") {
			continue
		}
		if slices.ContainsFunc(d.Sample, func(s *profile.Sample) bool { return s.Value[i] < 0 }) {
			return nil, fmt.Errorf("difference of %s profiles: %s fell: the target is not the same process any more", typ, t.Type)
		}
	}
	return d, nil
}

// encode returns a profile as the runtime writes it.
func encode(p *profile.Profile) ([]byte, error) {
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		return nil, fmt.Errorf("encode profile: %w", err)
	}
	return out.Bytes(), nil
}
