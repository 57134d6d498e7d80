// Package interned numbers the stacks, names and states of traces, so that what is kept
// of millions of events stays small and compares fast, and holds what is known about each
// distinct stack. Numbers are valid for all traces of one analysis; 0 is none.
package interned

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/exp/trace" // reads execution traces of every Go version; the runtime's own reader is internal

	"github.com/redline-go/redline/anatomy/server"
	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/record/code"
)

// maxFrames is the number of frames that a part keeps of its stack: all that a trace has. The AWS SDK has 70 between a call and the
// service's function that asks for it.
const maxFrames = server.TraceDepth

// Stack identifies a distinct stack; 0 means none.
type Stack int32

// Info is what the analysis needs to know of one distinct stack.
type Info struct {
	Frames []code.Frame // innermost first, at most maxFrames
	Site   string
	SiteID Name
	Path   Name // the target's own frames with their lines, up to the goroutine's entry; 0 without one
	Class  server.Class
	Server server.Kind
	sync   site.Sync
	Closes bool // it closes a channel of gRPC's workers
	Hands  bool // it passes a call to one
	Entry  Name // the function in which its goroutine began; 0 if the stack is truncated
	Cut    bool // the runtime recorded only its innermost frames
	// Operation is the one that a cut stack lies within, the innermost: whoever asked for it is among the frames that are lost.
	// 0 is none, or a whole stack.
	Operation int
	Waits     *Ender // of the function that waits
}

// Ender is the only goroutine that ended the waits of requests in one function.
type Ender struct {
	By      trace.GoID
	Several bool // there is more than one
	Trace   int  // in which it ended them
}

// Ended notes who ended a request's wait in a trace.
func (e *Ender) Ended(by trace.GoID, trace int) {
	if e.Trace != trace {
		*e = Ender{By: by, Trace: trace}
	}
	e.Several = e.Several || e.By != by
}

// Name identifies a site or function by a number, so that comparing is fast; 0 is "".
type Name int32

// Stacks interns the stacks of all traces by content. A trace numbers its stacks
// anew in every generation, so a table of those numbers precedes it.
type Stacks struct {
	Own     site.Ownership
	handles map[trace.Stack]Stack // of the trace being read
	stops   map[stopKey]Stack     // 0 of those that the program did not call for
	content map[string]Stack
	Names   []string
	nameIDs map[string]Name
	// called maps wrappers that the compiler made to what they were first seen to call; see Unwrap.
	called  map[Name]Name
	Entries map[string]code.Frame // of the functions that goroutines begin in: one of their lines
	Trace   int                   // the one being read, from 1
	enders  map[string]*Ender     // by the function that waits
	all     []Info
	within  map[withinKey]Stack
	key     []byte // scratch
}

// New returns empty tables; own decides which frames are the target's code.
func New(own site.Ownership) *Stacks {
	return &Stacks{Own: own, stops: map[stopKey]Stack{}, content: map[string]Stack{}, Names: []string{""},
		nameIDs: map[string]Name{"": 0}, called: map[Name]Name{}, Entries: map[string]code.Frame{}, enders: map[string]*Ender{},
		within: map[withinKey]Stack{}, all: []Info{{Class: server.ClassNone, Waits: &Ender{}}}}
}

// NextTrace forgets the handles of the last trace and the tables they keep alive.
func (s *Stacks) NextTrace() {
	s.handles = map[trace.Stack]Stack{}
	s.Trace++
}

// NextGeneration forgets the handles of the generation that ended: no event of
// the next one uses them.
func (s *Stacks) NextGeneration() { clear(s.handles) }

// Intern returns the number of a stack of the trace that is being read; 0 for one without
// frames.
func (s *Stacks) Intern(h trace.Stack) Stack {
	if h == trace.NoStack {
		return 0
	}
	if id, ok := s.handles[h]; ok {
		return id
	}
	id := s.add(h)
	s.handles[h] = id
	return id
}

// root is what the runtime lets every goroutine return to. CPU samples in a trace end with it, as other stacks do not; it
// says nothing about where the goroutine began.
const root = "runtime.goexit"

func (s *Stacks) add(h trace.Stack) Stack {
	var frames []code.Frame
	for f := range h.Frames() {
		if f.Func != root {
			frames = append(frames, code.Frame{Function: f.Func, File: f.File, Line: int(f.Line)})
		}
	}
	return s.keep(frames)
}

// stopKey is a reason to stop the world, and the stack that did.
type stopKey struct {
	reason string
	stack  Stack
}

// Stop returns the stack of a call by which the program stopped the world for a reason of the runtime's, at the given
// stack; 0 if the program did not ask for it.
func (s *Stacks) Stop(reason string, at Stack) Stack {
	key := stopKey{reason, at}
	if id, ok := s.stops[key]; ok {
		return id
	}
	id, frames := Stack(0), s.Info(at).Frames
	switch function, called := site.Stopped(reason, frames); {
	case !called:
	case function == "" || len(frames) == maxFrames:
		id = at
	default:
		id = s.keep(slices.Concat([]code.Frame{{Function: function}}, frames))
	}
	s.stops[key] = id
	return id
}

// keep returns the number of a stack's frames.
func (s *Stacks) keep(frames []code.Frame) Stack {
	s.key = s.key[:0]
	for _, f := range frames {
		s.key = append(s.key, f.Function...)
		s.key = append(s.key, 0)
		s.key = strconv.AppendInt(s.key, int64(f.Line), 36)
		s.key = append(s.key, 0)
	}
	if len(frames) == 0 {
		return 0
	}
	if id, ok := s.content[string(s.key)]; ok {
		return id
	}
	deep := len(frames) >= server.Deep
	frames = code.Plain(frames)
	id := Stack(len(s.all))
	s.content[string(s.key)] = id
	info := Info{sync: site.SyncOf(frames)}
	info.Class, info.Server = server.Classify(frames)
	info.Site = s.Own.Site(frames, info.sync)
	info.Closes, info.Hands = server.WakesWorker(frames)
	info.SiteID = s.name(info.Site)
	info.Path = s.path(frames)
	if began, ok := site.Began(frames); ok {
		_, known := s.Entries[began.Function]
		if info.Cut = deep && !known; !info.Cut {
			info.Entry = s.name(began.Function)
		}
		if !known && !deep {
			s.Entries[began.Function] = began
		}
	}
	info.Waits = s.ender(frames, info.Site)
	info.Frames = frames[:min(len(frames), maxFrames):min(len(frames), maxFrames)]
	s.all = append(s.all, info)
	return id
}

// withinKey is a cut stack within an operation.
type withinKey struct {
	stack     Stack
	operation int
}

// Within returns the number of a stack for a goroutine that is within an operation. A cut stack has one for each operation, because
// calls that different functions ask for look alike without their outermost frames.
func (s *Stacks) Within(id Stack, operation int) Stack {
	if operation == 0 || !s.all[id].Cut || s.all[id].Operation != 0 {
		return id
	}
	key := withinKey{id, operation}
	if known, ok := s.within[key]; ok {
		return known
	}
	info := s.all[id]
	info.Operation = operation
	info.Path = s.name(s.Names[info.Path] + "within " + strconv.Itoa(operation))
	s.within[key] = Stack(len(s.all))
	s.all = append(s.all, info)
	return s.within[key]
}

// path numbers the target's own frames of a stack.
func (s *Stacks) path(frames []code.Frame) Name {
	s.key = s.key[:0]
	for _, f := range frames {
		if s.Own.Owns(f) {
			s.key = append(s.key, f.Function...)
			s.key = append(s.key, ' ')
			s.key = strconv.AppendInt(s.key, int64(f.Line), 36)
			s.key = append(s.key, 0)
		}
	}
	return s.name(string(s.key))
}

// ender returns what ends waits in the target's innermost function of a stack, or at its
// site: a send and a receive in one function wait for the same goroutine.
func (s *Stacks) ender(frames []code.Frame, site string) *Ender {
	key := site
	if f, ok := s.Own.Innermost(frames); ok {
		key = f.Function
	}
	if s.enders[key] == nil {
		s.enders[key] = &Ender{}
	}
	return s.enders[key]
}

// WaitsIn returns the function that waits: the innermost outside the runtime and the packages of
// synchronisation; "" without one.
func (i *Info) WaitsIn() string {
	for _, f := range i.Frames {
		switch pkg, _, _ := strings.Cut(f.Function, "."); {
		case pkg == "runtime", pkg == "sync", strings.HasPrefix(pkg, "internal/"):
		default:
			return f.Function
		}
	}
	return ""
}

// wrapper is in the name of a function that the compiler makes for a go statement with
// arguments. The runtime names its goroutine after what it calls (runtime.startPCForTrace), except for
// functions in variables: the goroutine of go f(i) in serve begins in "main.serve.gowrap1".
const wrapper = ".gowrap"

// Wraps reports whether an entry is a compiler-generated wrapper.
func (s *Stacks) Wraps(entry Name) bool {
	return s.called[entry] != 0 || strings.Contains(s.Names[entry], wrapper)
}

// Unwrap takes a stack of a goroutine that began in a wrapper, and returns what the wrapper called
// there, which is how all stacks and profiles name the goroutine: they leave wrappers out. Of go
// fs[i](x) that may differ between goroutines, and the entry itself is known by what it called first.
// It returns the entry where the stack does not show it.
func (s *Stacks) Unwrap(entry Name, i *Info) Name {
	called := s.Names[i.Entry]
	if i.Entry == 0 || strings.Contains(called, wrapper) || strings.HasPrefix(called, "runtime.") {
		return entry // the wrapper itself, or what the runtime does for it
	}
	if s.called[entry] == 0 {
		s.called[entry], s.Names[entry] = i.Entry, called
	}
	return i.Entry
}

// Called returns what a wrapper called first, or the entry itself if it is none or has not been seen to
// call anything.
func (s *Stacks) Called(entry Name) Name {
	if c := s.called[entry]; c != 0 {
		return c
	}
	return entry
}

func (s *Stacks) name(text string) Name {
	id, ok := s.nameIDs[text]
	if !ok {
		id = Name(len(s.Names))
		s.Names = append(s.Names, text)
		s.nameIDs[text] = id
	}
	return id
}

// Info returns the information on a stack; 0 is valid.
func (s *Stacks) Info(id Stack) *Info { return &s.all[id] }
