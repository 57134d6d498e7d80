package flame

import (
	"fmt"
	"slices"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/profiles"
	"github.com/redline-go/redline/record/stacks"
)

// kind is a type of profile that a graph is drawn of.
type kind struct {
	typ, title string
	columns    []Column // named as the page says it
	values     []string // of the columns, as pprof names them
	state      bool     // of an instant: the last one counts, and not their sum
}

var kinds = []kind{
	{"cpu", "CPU", []Column{{Name: "CPU time", Unit: "ns"}}, []string{"cpu"}, false},
	{"allocs", "Allocations", []Column{{Name: "bytes", Unit: "bytes"}, {Name: "objects", Unit: "1"}},
		[]string{"alloc_space", "alloc_objects"}, false},
	{"heap", "Heap", []Column{{Name: "bytes in use", Unit: "bytes"}, {Name: "objects in use", Unit: "1"}},
		[]string{"inuse_space", "inuse_objects"}, true},
	{"mutex", "Mutexes", []Column{{Name: "delay", Unit: "ns"}, {Name: "contentions", Unit: "1"}},
		[]string{"delay", "contentions"}, false},
	{"block", "Blocking", []Column{{Name: "delay", Unit: "ns"}, {Name: "contentions", Unit: "1"}},
		[]string{"delay", "contentions"}, false},
	{"goroutine", "Goroutines", []Column{{Name: "goroutines", Unit: "1"}}, []string{"goroutine"}, true},
}

// AddProfiles adds a graph for each type of profile that a bundle holds. What cannot be read
// goes to miss, with the reason.
func (s *Set) AddProfiles(rec *record.Record, miss func(what string, err error)) {
	for _, k := range kinds {
		if len(rec.Profiles(k.typ)) == 0 {
			continue
		}
		var t tree
		g := Graph{ID: k.typ, Title: k.title}
		for i, value := range k.values {
			p, note, err := k.read(rec, value)
			if err != nil {
				miss(k.typ+" flame graph", err)
				break
			}
			g.Note, g.Columns = note, append(g.Columns, k.columns[i])
			t.addProfile(p, i)
		}
		if len(g.Columns) == len(k.values) {
			if err := k.divide(rec, &t, &g); err != nil {
				miss(k.typ+" flame graph by time", err)
			}
		}
		s.put(g, &t)
	}
}

// divide lets a graph be looked at by time, as far as its profiles were taken one after the other.
func (k kind) divide(rec *record.Record, t *tree, g *Graph) error {
	parts, err := t.addParts(rec, k)
	if parts == nil {
		t.dropShares() // what was counted before an error, or before there was too much
		return err
	}
	if k.state {
		g.Combine = CombineState
	}
	for i := range g.Columns {
		g.Columns[i].Parts = slices.Clone(parts)
	}
	return nil
}

// read returns the stacks of a kind with one of its values, and what they cover.
func (k kind) read(rec *record.Record, value string) (*stacks.Profile, string, error) {
	if !k.state {
		note := "Over the measured span."
		p, err := stacks.Read(rec, k.typ, value, func(format string, args ...any) {
			note = fmt.Sprintf(format,
				args...) + "."
		})
		return p, note, err
	}
	listed := rec.Profiles(k.typ)
	last := listed[len(listed)-1]
	judged := rec.Judged()
	for _, l := range listed {
		if l.Span.To <= judged.To {
			last = l
		}
	}
	data, err := rec.ReadProfile(last)
	if err != nil {
		return nil, "", err
	}
	parsed, err := profiles.Parse(data)
	if err != nil {
		return nil, "", err
	}
	p, err := stacks.Flatten(parsed, value)
	return p, "As it was " + notation.Duration(int64(last.Span.To)) + " into the run.", err
}
