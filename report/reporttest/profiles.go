package reporttest

import (
	"bytes"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// Stacks is a CPU profile, outermost function first: 1,000 ms in all, of which 310 are in
// json and below it.
var Stacks = []Stack{
	{[]string{"net/http.(*conn).serve", "example.org/gateway/api.Order", "encoding/json.Marshal"}, 110},
	{[]string{"net/http.(*conn).serve", "example.org/gateway/api.Order", "encoding/json.Marshal", "encoding/json.compact"}, 200},
	{[]string{"net/http.(*conn).serve", "example.org/gateway/api.Order", "example.org/gateway/store.(*Store).Orders"}, 390},
	{[]string{"runtime.mcall", "runtime.schedule"}, 300},
}

// Stack is one stack of a profile, outermost function first.
type Stack struct {
	Functions []string
	MS        int64
}

func writeProfiles(t testing.TB, w *record.Writer, o Options, steady timebase.Span) {
	for _, p := range []struct {
		typ    string
		values []string // name, unit
		span   timebase.Span
	}{
		{"cpu", []string{"samples", "count", "cpu", "nanoseconds"}, steady},
		{"allocs", []string{"alloc_objects", "count", "alloc_space", "bytes"}, steady},
		{"goroutine", []string{"goroutine", "count"}, timebase.Span{From: steady.To, To: steady.To}},
	} {
		var b bytes.Buffer
		must(t, pprof(o, p.values).Write(&b))
		must(t, w.Profile(record.Profile{Type: p.typ, Span: p.span, Data: b.Bytes()}))
	}
}

// pprof returns Stacks as a profile; values are names and units of sample types.
func pprof(o Options, values []string) *profile.Profile {
	p := &profile.Profile{}
	for i := 0; i < len(values); i += 2 {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: values[i], Unit: values[i+1]})
	}
	locations := map[string]*profile.Location{}
	for _, s := range Stacks {
		sample := &profile.Sample{}
		for _, value := range values[:len(values)/2] {
			_ = value
			sample.Value = append(sample.Value, s.MS*1e6)
		}
		for i := len(s.Functions) - 1; i >= 0; i-- {
			name := s.Functions[i] + o.Evil
			if locations[name] == nil {
				f := &profile.Function{ID: uint64(len(locations) + 1), Name: name, Filename: "/src/" + name + ".go"}
				p.Function = append(p.Function, f)
				locations[name] = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f, Line: int64(10 * f.ID)}}}
				p.Location = append(p.Location, locations[name])
			}
			sample.Location = append(sample.Location, locations[name])
		}
		p.Sample = append(p.Sample, sample)
	}
	return p
}
