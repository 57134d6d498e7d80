package measured

import (
	"github.com/google/pprof/profile" // the format's own reader; it merges too

	"github.com/redline-go/redline/record/profiles"
	"github.com/redline-go/redline/record/stacks"
)

// Profile is the merged profile of one type over the steady span.
type Profile = stacks.Profile

// Sample is one stack with its value.
type Sample = stacks.Sample

// Profile returns the merged profile of a type ("cpu", "allocs", "mutex",
// "block"), with the values of one sample type ("cpu", "alloc_space", "delay"), without what redline itself adds to the service. It is
// read once; see stacks.Read for what is an error.
func (p *Run) Profile(typ, value string) (*Profile, error) {
	key := typ + " " + value
	if p.profiles[key] == nil {
		p.profiles[key] = &Memo[*Profile]{}
	}
	return p.profiles[key].Try(func() (*Profile, error) { return p.readProfile(typ, value) })
}

// ParseProfile reads a pprof file within bounds; see profiles.Parse.
func ParseProfile(data []byte) (*profile.Profile, error) { return profiles.Parse(data) }
