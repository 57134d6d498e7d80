package reporttest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// Stacks is a CPU profile, outermost function first: 1,000 ms in all, of which 310 are in
// json and below it.
var Stacks = []Stack{
	{[]string{"net/http.(*conn).serve", "example.org/gateway/api.Order", "encoding/json.Marshal"}, 110},
	{[]string{"net/http.(*conn).serve", "example.org/gateway/api.Order", "encoding/json.Marshal",
		"encoding/json.compact"}, 200},
	{[]string{"net/http.(*conn).serve", "example.org/gateway/api.Order",
		"example.org/gateway/store.(*Store).Orders"}, 390},
	{[]string{"runtime.mcall", "runtime.schedule"}, 300},
}

// Stack is one stack of a profile, outermost function first.
type Stack struct {
	Functions []string
	MS        int64
}

func writeProfiles(t testing.TB, w *record.Writer, o Options, steady timebase.Span) {
	all := append(slices.Clone(Stacks), Grown(o.Stacks)...)
	parts := max(o.Parts, 2)
	for i := range parts {
		// The first stacks are those of the first half: a selection of time shows them or not.
		half := append(slices.Clone(Stacks[:3]), all[len(Stacks):]...)
		if i >= parts/2 {
			half = all[3:]
		}
		span := timebase.Span{From: steady.From + steady.Len()*time.Duration(i)/time.Duration(parts),
			To: steady.From + steady.Len()*time.Duration(i+1)/time.Duration(parts)}
		writeProfile(t, w, "cpu", span, pprof(o, half, "samples", "count", "cpu", "nanoseconds"))
	}
	writeProfile(t, w, "allocs", steady, pprof(o, all, "alloc_objects", "count", "alloc_space", "bytes"))
	if o.Stacks > 0 {
		writeProfile(t, w, "mutex", steady, pprof(o, all[:len(all)/4], "contentions", "count", "delay", "nanoseconds"))
		writeProfile(t, w, "block", steady, pprof(o, all[:len(all)/4], "contentions", "count", "delay", "nanoseconds"))
		end := timebase.Span{From: steady.To, To: steady.To}
		writeProfile(t, w, "heap", end, pprof(o, all[:len(all)/2], "inuse_objects", "count", "inuse_space", "bytes"))
	}
	if o.Timed {
		begin := timebase.Span{From: steady.From, To: steady.From}
		early := append(slices.Clone(all[:1]), Stack{Functions: []string{"main.startUp"}, MS: 7})
		writeProfile(t, w, "goroutine", begin, pprof(o, early, "goroutine", "count"))
	}
	writeProfile(t, w, "goroutine", timebase.Span{From: steady.To, To: steady.To}, pprof(o, all[:min(len(all),
		200)], "goroutine", "count"))
}

func writeProfile(t testing.TB, w *record.Writer, typ string, span timebase.Span, p *profile.Profile) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a tenth of the time, and nobody keeps it
	must(t, err)
	must(t, p.WriteUncompressed(z))
	must(t, z.Close())
	must(t, w.Profile(record.Profile{Type: typ, Span: span, Data: b.Bytes()}))
}

// Grown returns n stacks that share callers as those of a service do: each leaves an earlier one
// somewhere and goes on for some frames of its own. They are some 20 frames deep, and always the same.
func Grown(n int) []Stack {
	rng := rand.New(rand.NewPCG(5, 6))
	out := make([]Stack, 0, n)
	stem := make([]string, 16)
	for i := range stem {
		stem[i] = fmt.Sprintf("net/http.(*stem%d).ServeHTTP", i)
	}
	for i := range n {
		from := stem
		if i > 0 {
			from = out[rng.IntN(i)].Functions
		}
		at := min(8+rng.IntN(16), len(from))
		functions := slices.Clone(from[:at])
		for k := range 1 + rng.IntN(8) {
			functions = append(functions, fmt.Sprintf("example.org/gateway/part%d.(*Type%d).Method%d",
				rng.IntN(40), i%20, k+rng.IntN(20)))
		}
		out = append(out, Stack{Functions: append(functions, fmt.Sprintf("example.org/gateway/leaf.call%d", i)),
			MS: int64(1 + rng.IntN(20))})
	}
	return out
}

// pprof returns stacks as a profile; values are names and units of sample types.
func pprof(o Options, stacks []Stack, values ...string) *profile.Profile {
	p := &profile.Profile{}
	for i := 0; i < len(values); i += 2 {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: values[i], Unit: values[i+1]})
	}
	locations := map[string]*profile.Location{}
	for _, s := range stacks {
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
				locations[name] = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f,
					Line: int64(10 * f.ID)}}}
				p.Location = append(p.Location, locations[name])
			}
			sample.Location = append(sample.Location, locations[name])
		}
		p.Sample = append(p.Sample, sample)
	}
	return p
}

// Profiled writes the record of a service of which a CPU profile is known, with so many distinct stacks, and
// nothing else, and opens it.
func Profiled(t testing.TB, stacks int) *record.Record {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "20261121-042000-profiled")
	span := timebase.Span{To: 10 * time.Second}
	w, err := record.Create(dir, record.Run{Window: timebase.DefaultWindow, Steady: span,
		Target: record.Target{Module: "example.org/gateway"}})
	must(t, err)
	writeProfile(t, w, "cpu", span, pprof(Options{}, Grown(stacks), "samples", "count", "cpu", "nanoseconds"))
	must(t, w.Close(record.Complete, ""))
	rec, err := record.Open(dir)
	must(t, err)
	return rec
}
