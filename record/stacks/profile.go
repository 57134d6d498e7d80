package stacks

import (
	"errors"
	"fmt"

	"github.com/google/pprof/profile" // the format's own reader; it merges too

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/profiles"
	"github.com/redline-go/redline/redact"
)

// Bounds on all profiles of one type that are read. A long run merges its own; a day of
// profiles that could not be merged is 8,640.
const (
	maxProfiles = 10_000
	MaxBytes    = 256 << 20
	maxUnpacked = 1 << 30
	// maxStack is the number of frames that are kept of a stack, innermost first;
	// the runtime records 128, or up to 1024 by GODEBUG=profstackdepth.
	maxStack = 1024
	// maxFrames is the number of frames of all stacks of a merged profile; a frame
	// takes 41 bytes.
	maxFrames = 4_000_000
)

// mergedAtOnce is how many parsed profiles are in memory while they are merged.
const mergedAtOnce = 32

// ErrNone says that no profile of a type was taken in the steady span.
var ErrNone = errors.New("none in the steady span")

// Profile is the merged profile of one type over the steady span.
type Profile struct {
	Samples []Sample
	// Total is the sum of the samples' values.
	Total int64
	// Count is the number of events sampled: CPU samples, contentions.
	Count int64
	// Period is the mean distance between two samples, in the unit of what is counted: bytes of allocations, ns of CPU. 0 if the
	// profile does not say.
	Period int64
	// Begins is the line at which a function begins, by its name, if the profile has it.
	Begins map[string]int
}

// Sample is one stack with its value.
type Sample struct {
	Stack []code.Frame // innermost first, inlined calls expanded
	// Inlined marks frames that the compiler put into the next one.
	Inlined []bool
	// Cut reports that the stack has as many frames as the runtime keeps, so that the
	// outermost may be missing: the last is not where its goroutine began.
	Cut   bool
	Value int64
	Count int64
}

// keptCPU and kept are how many frames the runtime keeps of a CPU sample's stack (runtime/cpuprof.go,
// maxCPUProfStack) and of others (GODEBUG profstackdepth), innermost first, inlined ones included.
const (
	keptCPU = 64
	kept    = 128
)

// cut reports whether a sample has as many frames as the runtime keeps for values of a type.
func cut(s *profile.Sample, value string) bool {
	most, n := kept, 0
	if value == "cpu" {
		most = keptCPU
	}
	for _, l := range s.Location {
		n += len(l.Line)
	}
	return n >= most
}

// Read returns the merged profile of a type ("cpu", "allocs", "mutex", "block") over
// Record.Judged, with the values of one sample type ("cpu", "alloc_space", "delay").
// Profiles outside that span are left out. note gets a sentence if there are more than are
// read; nil drops it. The error names the file that does not parse, or is ErrNone.
func Read(rec *record.Record, typ, value string, note func(format string, args ...any)) (*Profile, error) {
	merged, err := merge(rec, typ, note)
	if err != nil {
		return nil, fmt.Errorf("%s profile: %w", typ, err)
	}
	return Flatten(merged, value)
}

func merge(rec *record.Record, typ string, note func(format string, args ...any)) (*profile.Profile, error) {
	steady := rec.Judged()
	var listed []record.Profile
	for _, l := range rec.Profiles(typ) {
		if l.Span.To >= steady.From && l.Span.From <= steady.To {
			listed = append(listed, l)
		}
	}
	picked := record.Spread(len(listed), func(i int) int64 { return rec.ProfileSize(listed[i]) }, MaxBytes, maxProfiles)
	if left := len(listed) - len(picked); left > 0 && note != nil {
		note("%d of %d %s profiles left out, evenly over the run: %d of %d MB in all are read at most", left, len(listed),
			typ, maxProfiles, MaxBytes>>20)
	}
	if len(picked) == 0 {
		return nil, ErrNone
	}
	unpacked := int64(0)
	return profiles.Sum(len(picked), mergedAtOnce, func(i int) (*profile.Profile, error) {
		l := listed[picked[i]]
		data, err := rec.ReadProfile(l)
		if err != nil {
			return nil, err
		}
		one, size, err := redact.ParseProfile(data)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", rec.ProfilePath(l), err)
		}
		if unpacked += size; unpacked > maxUnpacked {
			return nil, fmt.Errorf("unpacked they are larger than %d MB", maxUnpacked>>20)
		}
		return one, nil
	})
}

// Flatten turns a parsed profile into stacks with the values of one sample type. The
// error says that the profile has no such type, or holds more than fits in memory.
func Flatten(from *profile.Profile, value string) (*Profile, error) {
	at := -1
	for i, t := range from.SampleType {
		if t.Type == value {
			at = i
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("profile: no values of type %q", value)
	}
	held := 0
	out := &Profile{Samples: make([]Sample, 0, len(from.Sample)), Period: from.Period, Begins: map[string]int{}}
	for _, f := range from.Function {
		if name, _ := code.Unhooked(f.Name); f.StartLine > 0 {
			out.Begins[name] = int(f.StartLine)
		}
	}
	for _, s := range from.Sample {
		// A delta profile holds decreases as negative; that is noise here.
		if at >= len(s.Value) || s.Value[at] <= 0 {
			continue
		}
		sample := Sample{Value: s.Value[at], Count: s.Value[0], Cut: cut(s, value)}
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

// frames expands inlined calls: a location's lines are innermost first. Frames beyond
// maxStack are cut.
func frames(s *profile.Sample) (stack []code.Frame, inlined []bool) {
	n := min(len(s.Location), maxStack)
	stack, inlined = make([]code.Frame, 0, n), make([]bool, 0, n)
	body := "" // of the frame before, where a hook wraps it
	for _, l := range s.Location {
		for i, line := range l.Line {
			if len(stack) == maxStack {
				return stack, inlined
			}
			if line.Function == nil || line.Function.Name == "" {
				continue
			}
			name, wrapped := code.Unhooked(line.Function.Name)
			if name == body { // redline's wrapper of the frame before
				body = ""
				continue
			}
			if body = ""; wrapped {
				body = name
			}
			stack = append(stack, code.Frame{Function: name, File: line.Function.Filename, Line: int(line.Line)})
			inlined = append(inlined, i < len(l.Line)-1)
		}
	}
	return stack, inlined
}
