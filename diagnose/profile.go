package diagnose

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile" // the format's own reader; it merges too

	"github.com/redline-go/redline/record"
)

// Bounds on profiles, which come from outside. A CPU profile of a minute of a
// large service is below 2 MB unpacked; one with more is not ours to hold.
const (
	maxProfileBytes = 64 << 20
	maxProfiles     = 512
)

// Profile is the merged profile of one type over the steady span.
type Profile struct {
	Samples []Sample
	// Total is the sum of the samples' values.
	Total int64
	// Count is the number of events sampled: CPU samples, contentions.
	Count int64
}

// Sample is one stack with its value.
type Sample struct {
	Stack []record.Frame // innermost first, inlined calls expanded
	// Inlined marks frames that the compiler put into the next one.
	Inlined []bool
	Value   int64
	Count   int64
}

type profileResult struct {
	profile *Profile
	err     error
}

// Profile returns the merged profile of a type ("cpu", "allocs", "mutex",
// "block"), with the values of one sample type ("cpu", "alloc_space", "delay").
// Profiles that lie outside the steady span are left out. The error tells what
// does not parse, or that there is none.
func (p *Pass) Profile(typ, value string) (*Profile, error) {
	key := typ + " " + value
	if got, ok := p.profiles[key]; ok {
		return got.profile, got.err
	}
	merged, err := p.merge(typ)
	var result profileResult
	if err != nil {
		result.err = fmt.Errorf("%s profile: %w", typ, err)
	} else {
		result.profile, result.err = flatten(merged, value)
	}
	p.profiles[key] = result
	return result.profile, result.err
}

func (p *Pass) merge(typ string) (*profile.Profile, error) {
	steady := p.Steady()
	var parsed []*profile.Profile
	for _, listed := range p.Record.Profiles(typ) {
		if listed.Span.To < steady.From || listed.Span.From > steady.To {
			continue
		}
		if len(parsed) == maxProfiles {
			return nil, fmt.Errorf("more than %d of them", maxProfiles)
		}
		data, err := p.Record.ReadProfile(listed)
		if err != nil {
			return nil, err
		}
		one, err := ParseProfile(data)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, one)
	}
	if len(parsed) == 0 {
		return nil, errors.New("none in the steady span")
	}
	return profile.Merge(parsed)
}

// ParseProfile reads a pprof file, gzipped or not, of at most 64 MB unpacked. It
// unpacks within the bound before it parses: profile.Parse would unpack whatever
// size a hostile file claims.
func ParseProfile(data []byte) (*profile.Profile, error) {
	if len(data) > 2 && data[0] == 0x1f && data[1] == 0x8b {
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		if data, err = io.ReadAll(io.LimitReader(unpacked, maxProfileBytes+1)); err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
	}
	if len(data) > maxProfileBytes {
		return nil, fmt.Errorf("larger than %d bytes unpacked", maxProfileBytes)
	}
	if err := boundProfile(data); err != nil {
		return nil, err
	}
	return profile.ParseUncompressed(data)
}

// flatten turns a parsed profile into stacks with one value.
func flatten(from *profile.Profile, value string) (*Profile, error) {
	at, count := -1, 0
	for i, t := range from.SampleType {
		if t.Type == value {
			at = i
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("profile: no values of type %q", value)
	}
	held := 0
	out := &Profile{Samples: make([]Sample, 0, len(from.Sample))}
	for _, s := range from.Sample {
		// A delta profile holds what went down as negative; that is noise here.
		if at >= len(s.Value) || s.Value[at] <= 0 {
			continue
		}
		sample := Sample{Value: s.Value[at], Count: s.Value[count]}
		sample.Stack, sample.Inlined = frames(s)
		if held += len(sample.Stack); held > maxFrames {
			return nil, fmt.Errorf("profile: stacks of more than %d frames in sum", maxFrames)
		}
		out.Total += sample.Value
		out.Count += sample.Count
		out.Samples = append(out.Samples, sample)
	}
	return out, nil
}

// frames expands inlined calls: a location's lines are innermost first. What lies
// outside of maxStack frames is cut.
func frames(s *profile.Sample) (stack []record.Frame, inlined []bool) {
	n := min(len(s.Location), maxStack)
	stack, inlined = make([]record.Frame, 0, n), make([]bool, 0, n)
	body := "" // of the frame before, where a hook wraps it
	for _, l := range s.Location {
		for i, line := range l.Line {
			if len(stack) == maxStack {
				return stack, inlined
			}
			if line.Function == nil || line.Function.Name == "" {
				continue
			}
			name, wrapped := record.Unhooked(line.Function.Name)
			if name == body { // what redline's build put around the frame before
				body = ""
				continue
			}
			if body = ""; wrapped {
				body = name
			}
			stack = append(stack, record.Frame{Function: name, File: line.Function.Filename, Line: int(line.Line)})
			inlined = append(inlined, i < len(l.Line)-1)
		}
	}
	return stack, inlined
}
