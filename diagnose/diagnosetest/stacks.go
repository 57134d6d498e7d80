package diagnosetest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
)

// Stack makes a stack from frames written "function" or "function@file:line",
// innermost first. Frames without a file get one in GOROOT or in the module cache,
// according to their package, so that they are not the user's.
func Stack(frames ...string) []code.Frame {
	stack := make([]code.Frame, len(frames))
	for i, text := range frames {
		function, at, _ := strings.Cut(text, "@")
		file, line, _ := strings.Cut(at, ":")
		n, _ := strconv.Atoi(line)
		if file == "" {
			file = "/usr/local/go/src/lib.go"
			if strings.Contains(function, ".") && strings.Contains(strings.SplitN(function, "/", 2)[0], ".") &&
				strings.Contains(function, "/") {
				file = "/root/go/pkg/mod/lib@v1.2.3/lib.go"
			}
		} else if !strings.HasPrefix(file, "/") {
			file = "/src/shop/" + file
		}
		stack[i] = code.Frame{Function: function, File: file, Line: n}
	}
	return stack
}

// Serving is the outer end of a stack of net/http's.
func Serving() []code.Frame {
	return Stack("net/http.HandlerFunc.ServeHTTP", "net/http.(*ServeMux).ServeHTTP",
		"net/http.serverHandler.ServeHTTP", "net/http.(*conn).serve")
}

// stacks collects the samples of one profile.
type stacks struct {
	types   []*profile.ValueType
	samples []sample
	begins  map[string]int64 // the lines at which functions begin
	period  int64            // 1 if it is not set
}

type sample struct {
	stack  []code.Frame
	values []int64
}

func (b *Builder) sampleOf(typ string, stack []code.Frame, values ...int64) *Builder {
	s := b.profiles[typ]
	if s == nil {
		s = newStacks(typ)
		b.profiles[typ] = s
	}
	s.samples = append(s.samples, sample{stack, values})
	return b
}

func newStacks(typ string) *stacks {
	s := &stacks{}
	for _, name := range sampleTypes(typ) {
		kind, unit, _ := strings.Cut(name, "/")
		s.types = append(s.types, &profile.ValueType{Type: kind, Unit: unit})
	}
	return s
}

func sampleTypes(typ string) []string {
	switch typ {
	case "cpu":
		return []string{"samples/count", "cpu/nanoseconds"}
	case "allocs":
		return []string{"alloc_objects/count", "alloc_space/bytes"}
	case "heap":
		return []string{"inuse_objects/count", "inuse_space/bytes"}
	case "goroutine":
		return []string{"goroutine/count"}
	}
	return []string{"contentions/count", "delay/nanoseconds"}
}

// Sample adds CPU time of a request: the frames are inside a net/http handler.
func (b *Builder) Sample(cpu time.Duration, frames ...string) *Builder {
	return b.sampleOf("cpu", append(Stack(frames...), Serving()...), max(1, int64(cpu/(10*time.Millisecond))), int64(cpu))
}

// Begins says at which line a function of the CPU profile begins, as the runtime does.
func (b *Builder) Begins(function string, line int64) *Builder {
	if b.profiles["cpu"] == nil {
		b.profiles["cpu"] = newStacks("cpu")
	}
	s := b.profiles["cpu"]
	if s.begins == nil {
		s.begins = map[string]int64{}
	}
	s.begins[function] = line
	return b
}

// Background adds CPU time of another goroutine.
func (b *Builder) Background(cpu time.Duration, frames ...string) *Builder {
	return b.sampleOf("cpu", Stack(frames...), max(1, int64(cpu/(10*time.Millisecond))), int64(cpu))
}

// Alloc adds allocations of a request.
func (b *Builder) Alloc(objects, bytes int64, frames ...string) *Builder {
	return b.sampleOf("allocs", append(Stack(frames...), Serving()...), objects, bytes)
}

// AllocsEvery says that allocations are sampled once per so many bytes.
func (b *Builder) AllocsEvery(bytes int64) *Builder {
	if b.profiles["allocs"] == nil {
		b.profiles["allocs"] = newStacks("allocs")
	}
	b.profiles["allocs"].period = bytes
	return b
}

// Held adds contention to the mutex profile, booked on the stack that released the lock.
func (b *Builder) Held(delay time.Duration, frames ...string) *Builder {
	return b.sampleOf("mutex", Stack(frames...), 1000, int64(delay))
}

// Blocked adds a blocked goroutine outside any request to the block profile.
func (b *Builder) Blocked(delay time.Duration, frames ...string) *Builder {
	return b.sampleOf("block", Stack(frames...), 1000, int64(delay))
}

// Raw stores bytes as a profile of a type, unchecked.
func (b *Builder) Raw(typ string, data []byte) *Builder {
	b.raw = append(b.raw, record.Profile{Type: typ, Data: data})
	return b
}

// NoProfile forgets the profiles of a type.
func (b *Builder) NoProfile(typ string) *Builder { delete(b.profiles, typ); return b }

func (s *stacks) encode() ([]byte, error) {
	p := &profile.Profile{SampleType: s.types, PeriodType: s.types[len(s.types)-1], Period: max(1, s.period)}
	functions := map[string]*profile.Function{}
	for _, one := range s.samples {
		out := &profile.Sample{Value: one.values}
		for _, f := range one.stack {
			fn := functions[f.Function+f.File]
			if fn == nil {
				fn = &profile.Function{ID: uint64(len(functions) + 1), Name: f.Function, Filename: f.File, StartLine: s.begins[f.Function]}
				functions[f.Function+f.File] = fn
				p.Function = append(p.Function, fn)
			}
			l := &profile.Location{ID: uint64(len(p.Location) + 1), Line: []profile.Line{{Function: fn, Line: int64(f.Line)}}}
			p.Location = append(p.Location, l)
			out.Location = append(out.Location, l)
		}
		p.Sample = append(p.Sample, out)
	}
	if err := p.CheckValid(); err != nil {
		return nil, fmt.Errorf("synthetic profile: %w", err)
	}
	var buf bytes.Buffer
	err := p.Write(&buf)
	return buf.Bytes(), err
}
