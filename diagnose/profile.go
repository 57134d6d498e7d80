package diagnose

import (
	"github.com/google/pprof/profile" // the format's own reader; it merges too

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/stacks"
)

// Profile is the merged profile of one type over the steady span.
type Profile = stacks.Profile

// Sample is one stack with its value.
type Sample = stacks.Sample

type profileResult struct {
	profile *Profile
	err     error
}

// Profile returns the merged profile of a type ("cpu", "allocs", "mutex",
// "block"), with the values of one sample type ("cpu", "alloc_space", "delay"). It is
// read once; see stacks.Read for what is an error.
func (p *Pass) Profile(typ, value string) (*Profile, error) {
	key := typ + " " + value
	got, ok := p.profiles[key]
	if !ok {
		got.profile, got.err = stacks.Read(p.Record, typ, value, p.Note)
		p.profiles[key] = got
	}
	return got.profile, got.err
}

// ParseProfile reads a pprof file within bounds; see record.ParseProfile.
func ParseProfile(data []byte) (*profile.Profile, error) { return record.ParseProfile(data) }
