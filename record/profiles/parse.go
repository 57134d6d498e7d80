package profiles

import (
	"bytes"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/redact"
)

// mergedAtOnce is how many parsed profiles are in memory while a run merges them.
const mergedAtOnce = 8

// Merge merges n profiles, read one by one, into one in the form that the runtime
// writes.
func Merge(n int, read func(i int) ([]byte, error)) ([]byte, error) {
	all, err := Sum(n, mergedAtOnce, func(i int) (*profile.Profile, error) {
		data, err := read(i)
		if err != nil {
			return nil, err
		}
		return Parse(data)
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = all.Write(&b)
	return b.Bytes(), err
}

// Sum merges n profiles, at least one, of which it holds at most atOnce parsed: a long run
// has more of them than fit in memory.
func Sum(n, atOnce int, read func(i int) (*profile.Profile, error)) (*profile.Profile, error) {
	var parsed []*profile.Profile
	for i := range n {
		one, err := read(i)
		if err != nil {
			return nil, err
		}
		if parsed = append(parsed, one); len(parsed) < atOnce && i < n-1 {
			continue
		}
		all, err := profile.Merge(parsed)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed[:0], all)
	}
	return parsed[0], nil
}

// Parse reads a pprof file within the bounds of redact.ParseProfile.
func Parse(data []byte) (*profile.Profile, error) {
	p, _, err := redact.ParseProfile(data)
	return p, err
}
