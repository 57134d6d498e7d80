package record

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/profiles"
	"github.com/redline-go/redline/record/timebase"
)

// Delta profiles (CPU, and differences of the others) of a long run are merged: those of
// five minutes once they are a quarter of an hour old, and those of an hour once they
// are an hour old. Five minutes are merged first so that an hour of profiles is never in
// memory at once.
var profileTiers = []struct{ group, after time.Duration }{
	{5 * time.Minute, 15 * time.Minute},
	{time.Hour, time.Hour},
}

// profileSet knows the stored profiles that may be merged.
type profileSet struct {
	mu   sync.Mutex
	all  []stored
	left map[string]bool // groups that could not be merged and stay as they are
}

func (p *profileSet) add(s stored) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, s)
}

// next returns the oldest group that is to be merged, in order of time, and a key
// for it; nil when there is none.
func (p *profileSet) next() (group []stored, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	newest := map[string]time.Duration{}
	for _, s := range p.all {
		newest[s.typ] = max(newest[s.typ], s.To)
	}
	slices.SortFunc(p.all, func(a, b stored) int {
		return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	for _, t := range profileTiers {
		for i := 0; i < len(p.all); {
			first, n := p.all[i], i+1
			at := timebase.Window(first.From, t.group)
			for n < len(p.all) && p.all[n].typ == first.typ && timebase.Window(p.all[n].From, t.group) == at {
				n++
			}
			key = fmt.Sprintf("%s of %v from %v", first.typ, t.group, time.Duration(at)*t.group)
			due := p.all[n-1].To <= newest[first.typ]-t.after && timebase.WindowSpan(at, t.group).To <= newest[first.typ]-t.after
			if n-i > 1 && due && !p.left[key] {
				return slices.Clone(p.all[i:n]), key
			}
			i = n
		}
	}
	return nil, ""
}

// done replaces a group by the profile made from it.
func (p *profileSet) done(group []stored, made stored) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = slices.DeleteFunc(p.all, func(s stored) bool { return slices.Contains(group, s) })
	p.all = append(p.all, made)
}

// leave leaves a group as it is.
func (p *profileSet) leave(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == nil {
		p.left = map[string]bool{}
	}
	p.left[key] = true
}

// joinProfiles merges one group of old profiles. A group that cannot be merged (an
// invalid profile, a result that is too large) stays as it is.
func (w *Writer) joinProfiles() (did bool, err error) {
	group, key := w.profiles.next()
	if group == nil {
		return false, nil
	}
	made := stored{typ: group[0].typ, Span: group[0].Span}
	for _, s := range group {
		made.To = max(made.To, s.To)
	}
	made.path = path.Join(profilesDir, spanName(made.typ, made.Span, w.window, "pprof"))
	data, err := w.mergeProfiles(group)
	if err != nil || len(data) > MaxProfile || slices.ContainsFunc(group, func(s stored) bool { return s.path == made.path }) {
		w.profiles.leave(key)
		return true, nil //nolint:nilerr // they can be read one by one
	}
	if err := disk.Write(w.dir, made.path, data); err != nil {
		return false, err
	}
	w.profiles.done(group, made)
	for _, s := range group {
		err = errors.Join(err, os.Remove(filepath.Join(w.dir, s.path)))
	}
	w.files.replace(group, made)
	return true, err
}

func (w *Writer) mergeProfiles(group []stored) ([]byte, error) {
	return profiles.Merge(len(group), func(i int) ([]byte, error) { return disk.Read(w.dir, group[i].path, MaxProfile) })
}

// withoutMerged drops the profiles that a merged one contains: a writer that was killed
// between writing the one and removing the others leaves both. all is in order of time.
func withoutMerged(all []stored) []stored {
	widest := map[string]stored{}
	drop := map[string]bool{}
	for i := range all {
		s := all[i]
		if s.From == s.To {
			continue // of an instant
		}
		w, ok := widest[s.typ]
		switch {
		case ok && s.From == w.From && s.To > w.To: // sorted behind the ones that it holds
			for _, t := range all[:i] {
				if t.typ == s.typ && t.From >= s.From && t.To > t.From {
					drop[t.path] = true
				}
			}
			widest[s.typ] = s
		case ok && s.To <= w.To:
			drop[s.path] = true
		default:
			widest[s.typ] = s
		}
	}
	return slices.DeleteFunc(all, func(s stored) bool { return drop[s.path] })
}
