package anatomy

import (
	"strconv"
	"strings"

	"golang.org/x/exp/trace" // reads execution traces of every Go version; the runtime's own reader is internal

	"github.com/redline-go/redline/record/code"
)

// maxFrames is the number of frames that a part keeps of its stack, and
// traceDepth the number that the runtime records at most: a stack of that length
// may have lost its outermost frames.
const (
	maxFrames  = 48
	traceDepth = 128
)

// stackID indexes stacks.all. The zero stackID is the absent stack.
type stackID int32

// stackInfo is what the analysis needs to know of one distinct stack.
type stackInfo struct {
	frames []code.Frame // innermost first, at most maxFrames
	site   string
	siteID nameID
	class  class
	server server
	sync   syncKind
	closes bool   // it closes a channel of gRPC's workers
	hands  bool   // it hands a call to one
	entry  nameID // the function that its goroutine began in; 0 when it is lost
	waits  *ender // of the function that waits
}

// ender is the only goroutine that ended the waits of requests in one function.
type ender struct {
	by      trace.GoID
	several bool // there is more than one
	trace   int  // in which it did
}

// ended notes who ended a request's wait in a trace.
func (e *ender) ended(by trace.GoID, trace int) {
	if e.trace != trace {
		*e = ender{by: by, trace: trace}
	}
	e.several = e.several || e.by != by
}

// nameID numbers sites and functions, so that they compare fast; 0 is "".
type nameID int32

// stacks interns the stacks of all traces by content. A trace numbers its stacks
// anew in every generation, so a table of those numbers precedes it.
type stacks struct {
	own     ownership
	handles map[trace.Stack]stackID // of the trace being read
	content map[string]stackID
	names   []string
	nameIDs map[string]nameID
	entries map[string]code.Frame // of the functions that goroutines begin in: one of their lines
	trace   int                   // that is being read, from 1
	enders  map[string]*ender     // by the function that waits
	all     []stackInfo
	key     []byte // scratch
}

func newStacks(own ownership) *stacks {
	return &stacks{own: own, content: map[string]stackID{}, names: []string{""},
		nameIDs: map[string]nameID{"": 0}, entries: map[string]code.Frame{}, enders: map[string]*ender{},
		all: []stackInfo{{class: classNone, waits: &ender{}}}}
}

// nextTrace forgets the handles of the last trace and the tables they keep alive.
func (s *stacks) nextTrace() {
	s.handles = map[trace.Stack]stackID{}
	s.trace++
}

// nextGeneration forgets the handles of the generation that ended: no event of
// the next one uses them.
func (s *stacks) nextGeneration() { clear(s.handles) }

func (s *stacks) intern(h trace.Stack) stackID {
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

func (s *stacks) add(h trace.Stack) stackID {
	var frames []code.Frame
	s.key = s.key[:0]
	for f := range h.Frames() {
		frames = append(frames, code.Frame{Function: f.Func, File: f.File, Line: int(f.Line)})
		s.key = append(s.key, f.Func...)
		s.key = append(s.key, 0)
		s.key = strconv.AppendUint(s.key, f.Line, 36)
		s.key = append(s.key, 0)
	}
	if len(frames) == 0 {
		return 0
	}
	if id, ok := s.content[string(s.key)]; ok {
		return id
	}
	whole := len(frames) < traceDepth
	frames = code.Plain(frames)
	id := stackID(len(s.all))
	s.content[string(s.key)] = id
	info := stackInfo{sync: syncKindOf(frames)}
	info.class, info.server = classify(frames)
	info.site = s.own.site(frames, info.sync)
	info.closes, info.hands = wakesWorker(frames)
	info.siteID = s.name(info.site)
	if whole {
		outermost := frames[len(frames)-1]
		info.entry = s.name(outermost.Function)
		if _, ok := s.entries[outermost.Function]; !ok {
			s.entries[outermost.Function] = outermost
		}
	}
	info.waits = s.ender(frames, info.site)
	info.frames = frames[:min(len(frames), maxFrames):min(len(frames), maxFrames)]
	s.all = append(s.all, info)
	return id
}

// ender returns who ends waits in the target's innermost function of a stack, or at
// its site: a send and a receive of one function are waits for the same goroutine.
func (s *stacks) ender(frames []code.Frame, site string) *ender {
	key := site
	if f, ok := s.own.innermost(frames); ok {
		key = f.Function
	}
	if s.enders[key] == nil {
		s.enders[key] = &ender{}
	}
	return s.enders[key]
}

func (s *stacks) name(text string) nameID {
	id, ok := s.nameIDs[text]
	if !ok {
		id = nameID(len(s.names))
		s.names = append(s.names, text)
		s.nameIDs[text] = id
	}
	return id
}

func (s *stacks) info(id stackID) *stackInfo { return &s.all[id] }

// syncKind distinguishes what the runtime calls by the one reason "sync".
type syncKind uint8

const (
	syncOther syncKind = iota // WaitGroup, Once, an unknown semaphore
	syncLock
	syncWorld // the semaphores around starting a GC cycle
)

// syncKindOf looks at the innermost frames: the reason alone is not enough, and
// further out a lock's name says nothing (a handler called by a Once waits for a
// row, not for the Once).
func syncKindOf(frames []code.Frame) syncKind {
	kind := syncOther
	for _, f := range frames {
		switch {
		case strings.HasPrefix(f.Function, "runtime.gcStart"), strings.HasPrefix(f.Function, "runtime.stopTheWorld"):
			return syncWorld
		// Concurrent writers of one file or connection queue up here.
		case strings.HasPrefix(f.Function, "internal/poll.(*fdMutex)"):
			return syncLock
		case strings.HasPrefix(f.Function, "sync.(*Once)"), strings.HasPrefix(f.Function, "sync.(*WaitGroup)"):
			return syncOther // a Once holds a Mutex within
		case strings.HasPrefix(f.Function, "sync.(*Mutex)"), strings.HasPrefix(f.Function, "sync.(*RWMutex)"),
			strings.HasPrefix(f.Function, "internal/sync.(*Mutex)"):
			kind = syncLock
		case !below(f.Function):
			return kind
		}
	}
	return kind
}

// below reports whether a function lies in the runtime or the lowest packages
// above it, where waiting is done and never decided.
func below(function string) bool {
	switch pkg := packageOf(function); pkg {
	case "runtime", "sync", "sync/atomic", "syscall", "golang.org/x/sys/unix":
		return true
	default:
		return strings.HasPrefix(pkg, "runtime/") || strings.HasPrefix(pkg, "internal/")
	}
}

// packageOf returns the import path of a function's package:
// "net/http.(*conn).serve" is in "net/http".
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/')
	// A type argument may hold a path of its own.
	if bracket := strings.IndexByte(function, '['); bracket >= 0 && bracket < slash {
		slash = strings.LastIndexByte(function[:bracket], '/')
	}
	dot := strings.IndexByte(function[slash+1:], '.')
	if dot < 0 {
		return function
	}
	return function[:slash+1+dot]
}
