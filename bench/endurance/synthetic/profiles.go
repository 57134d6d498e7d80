package synthetic

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// Sizes of a profile: those of 10 s of a medium-sized service.
const (
	stacks    = 400
	depth     = 24
	functions = 600
)

// profiles makes profiles of one program, whose samples differ.
type profiles struct {
	rng       *rand.Rand
	locations []*profile.Location
	stacks    [][]*profile.Location
}

func newProfiles(rng *rand.Rand) *profiles {
	p := &profiles{rng: rng}
	for i := range functions {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprintf("example.com/shop/part%d.(*Store).work%d", i%40, i),
			Filename: fmt.Sprintf("/src/shop/part%d/store.go", i%40)}
		p.locations = append(p.locations, &profile.Location{ID: f.ID, Address: 0x400000 + f.ID*64,
			Line: []profile.Line{{Function: f, Line: int64(10 + i)}}})
	}
	for range 3 * stacks {
		var stack []*profile.Location
		for range depth {
			stack = append(stack, p.locations[rng.IntN(functions)])
		}
		p.stacks = append(p.stacks, stack)
	}
	return p
}

// write stores a CPU profile.
func (p *profiles) write(w *record.Writer, span timebase.Span) error {
	return p.store(w, "cpu", span, []string{"samples", "cpu"}, 1e7)
}

// snapshots stores the differences over the whole span, and the states
// at its ends.
func (p *profiles) snapshots(w *record.Writer, steady timebase.Span) error {
	for typ, values := range map[string][]string{
		"allocs": {"alloc_objects", "alloc_space"}, "mutex": {"contentions", "delay"}, "block": {"contentions", "delay"},
	} {
		if err := p.store(w, typ, steady, values, 1e4); err != nil {
			return err
		}
	}
	for _, at := range []time.Duration{steady.From, steady.To} {
		for typ, values := range map[string][]string{"heap": {"inuse_objects", "inuse_space"}, "goroutine": {"goroutine"}} {
			if err := p.store(w, typ, timebase.Span{From: at, To: at}, values, 1e4); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *profiles) store(w *record.Writer, typ string, span timebase.Span, values []string, each int64) error {
	one := &profile.Profile{
		Location: p.locations, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: each,
		DurationNanos: int64(span.Len()),
	}
	for _, v := range values {
		one.SampleType = append(one.SampleType, &profile.ValueType{Type: v, Unit: "count"})
	}
	for _, l := range p.locations {
		one.Function = append(one.Function, l.Line[0].Function)
	}
	for range stacks {
		n := 1 + p.rng.Int64N(5)
		of := p.stacks[p.rng.IntN(len(p.stacks))]
		amounts := []int64{n, n * each}
		one.Sample = append(one.Sample, &profile.Sample{Location: of, Value: amounts[:len(values)]})
	}
	var b bytes.Buffer
	if err := one.Write(&b); err != nil {
		return err
	}
	return w.Profile(record.Profile{Type: typ, Span: span, Data: b.Bytes()})
}
