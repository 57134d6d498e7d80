package redact

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"github.com/google/pprof/profile" // the format's own reader
)

// errNoProfile says that what should be a profile is not packed as the runtime packs one.
var errNoProfile = errors.New("what it holds is no profile")

// Profile hides secrets in the labels and comments of a pprof profile: the values
// of labels whose names say secret, and others by name, form and value. Functions
// and files keep their names. A profile without secrets is returned as it is.
// What cannot be read as a profile within the bounds of ParseProfile is returned with
// learnt values covered.
func (r *Redactor) Profile(data []byte) []byte {
	p, err := readProfile(data)
	if err != nil {
		return r.covered(data)
	}
	changed := false
	hide := func(text string, secret bool) string {
		clean := r.Text(text)
		if secret && text != "" {
			clean = Mark
		}
		changed = changed || clean != text
		return clean
	}
	for i, text := range p.Comments {
		p.Comments[i] = hide(text, false)
	}
	for _, sample := range p.Sample {
		for name, all := range sample.Label {
			for i, text := range all {
				all[i] = hide(text, r.Secret(name))
			}
		}
		before := len(sample.NumLabel)
		maps.DeleteFunc(sample.NumLabel, func(name string, _ []int64) bool { return r.Secret(name) && name != "bytes" })
		changed = changed || len(sample.NumLabel) != before
	}
	if !changed {
		return data
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return r.covered(data)
	}
	return b.Bytes()
}

// readProfile reads a profile as the runtime writes it: packed.
func readProfile(data []byte) (*profile.Profile, error) {
	if !gzipped(data) {
		return nil, errNoProfile
	}
	p, _, err := ParseProfile(data)
	return p, err
}

// covered returns data with what was learnt covered; data itself when there is
// nothing of it.
func (r *Redactor) covered(data []byte) []byte {
	clean := slices.Clone(data)
	if r.Values(clean) == 0 {
		return data
	}
	return clean
}
