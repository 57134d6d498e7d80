package callstack

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Code distinguishes the user's code from libraries. The zero value decides by file names
// alone.
type Code struct {
	// Module is the target's main module path; empty when it is not known (only
	// net/http/pprof was reachable), and then file names decide.
	Module string
	// Answers names the calls that the target answers itself.
	Answers Answers
	// Keeps is set if the target's clients keep their connections: a wait for one is then for one that is in use.
	Keeps bool
	// Relays are the user's lines that only pass on what their function was given.
	Relays Lines
	// Logged are the user's lines that compute what a logger is given.
	Logged Lines
}

// Lines is a set of lines of functions; nil is empty.
type Lines map[line]bool

type line struct {
	function string
	number   int
}

// LinesOf returns the set of the lines of frames, whatever their files: a path may be trimmed.
func LinesOf(frames []code.Frame) Lines {
	set := Lines{}
	for _, f := range frames {
		set.Add(f)
	}
	return set
}

// Add adds a frame's line.
func (l Lines) Add(f code.Frame) { l[line{f.Function, f.Line}] = true }

// Has reports whether a frame's line is in the set.
func (l Lines) Has(f code.Frame) bool { return l[line{f.Function, f.Line}] }

// Answers are the calls whose other end is the target itself.
type Answers int

// Kinds of calls. RPCs may be answered in memory, without a connection.
const (
	AnswersNone Answers = iota
	AnswersRPC          // of gRPC
	AnswersHTTP         // over HTTP
	AnswersAll          // whatever it calls
)

// User reports whether a frame is the target's own code: package main, the main
// module, or, if the module is unknown, a file that lies neither in the standard
// library nor in a module cache or vendor folder. Files also decide for a
// workspace's other modules, which have no version in their path.
func (c Code) User(f code.Frame) bool {
	pkg, name := Split(f.Function)
	switch {
	case pkg == "" || strings.HasPrefix(name, cgoStub) || code.Probe(f):
		return false
	case pkg == "main" || within(pkg, c.Module):
		return !code.Vendored(f.File) && !c.borrowed(f.File)
	case Standard(pkg):
		return false
	case f.File == "":
		return false
	}
	if c.Module != "" && !code.Edited(pkg, f.File) {
		return false
	}
	return !code.Vendored(f.File) && !code.Versioned(f.File)
}

// cgoStub is the prefix of functions that cgo generates in the user's package to
// call C (_cgo_gotypes.go); their callers are the user's code.
const cgoStub = "_Cfunc_"

// borrowed reports whether a file belongs to another module in the module cache. The
// compiler names a library's closure after the user's function into which its enclosing
// function was inlined. The main module of a tool under test may itself be cached, with
// "!" before former capital letters.
func (c Code) borrowed(file string) bool {
	if c.Module == "" || !code.Versioned(file) {
		return false
	}
	module, _, _ := strings.Cut(file, "@v")
	cached := strings.ToLower(c.Module)
	return !strings.HasSuffix("/"+strings.ToLower(strings.ReplaceAll(module, "!", "")), "/"+cached)
}

// Innermost returns the index of the user's innermost frame, or -1.
func (c Code) Innermost(stack []code.Frame) int {
	return slices.IndexFunc(stack, c.User)
}

// Place returns the frame to name for a stack: the user's innermost that is not a wrapper,
// or else the innermost outside the standard library, or else outside the runtime. ok is
// false for an empty stack.
func (c Code) Place(stack []code.Frame) (f code.Frame, ok bool) {
	if i := c.Innermost(stack); i >= 0 {
		for wraps(stack, i) || stub(stack[i].File) {
			caller := c.Innermost(stack[i+1:])
			if caller < 0 {
				break
			}
			i += 1 + caller
		}
		return stack[i], true
	}
	for _, f := range stack {
		if pkg, _ := Split(f.Function); pkg != "" && pkg != systemCalls && !Standard(pkg) && !code.Probe(f) {
			return f, true
		}
	}
	for _, f := range stack {
		if !Runtime(f.Function) {
			return f, true
		}
	}
	if len(stack) > 0 {
		return stack[0], true
	}
	return code.Frame{}, false
}

// systemCalls wraps system calls, as the standard library's syscall does: whoever calls it has a reason.
const systemCalls = "golang.org/x/sys/unix"

// Runtime reports whether a function is the runtime's own.
func Runtime(function string) bool {
	pkg, _ := Split(function)
	return pkg == "runtime" || strings.HasPrefix(pkg, "internal/runtime/")
}

// mostCallers bounds how many callers of a place are named.
const mostCallers = 4

// Callers returns the user's frames that lead to a place on a stack, innermost first,
// at most four: one of them may call it too often.
func (c Code) Callers(stack []code.Frame, place code.Frame) (callers []code.Frame) {
	for _, f := range stack[1+slices.Index(stack, place):] {
		if c.User(f) && len(callers) < mostCallers {
			callers = append(callers, f)
		}
	}
	return callers
}

// stub reports whether a file was generated from a service's description: its callers are the
// place, because edits of it would be overwritten. The suffixes are those of protoc-gen-go,
// -go-grpc, -connect-go, -grpc-gateway, -validate and -twirp.
func stub(file string) bool {
	for _, suffix := range []string{".pb.go", ".connect.go", ".pb.gw.go", ".pb.validate.go", ".twirp.go"} {
		if strings.HasSuffix(file, suffix) {
			return true
		}
	}
	return false
}

// wraps reports whether a function wraps the one it calls, and has its name: a Lock
// that counts and locks, a Sleep of random length. There is nothing to change in
// it; its caller is the place.
func wraps(stack []code.Frame, i int) bool {
	if i == 0 {
		return false
	}
	pkg, callee := Split(stack[i-1].Function)
	switch pkg {
	case "sync", "internal/sync", "time", "golang.org/x/sync/semaphore", "golang.org/x/time/rate":
		_, name := Split(stack[i].Function)
		return bare(name) == bare(callee)
	}
	return false
}

// Outside returns the part of a stack outside of the user's innermost function, if that is a hook: the
// library that called it is the one that it calls, in the midst of a call of the user's further out.
// It is nil otherwise.
func (c Code) Outside(stack []code.Frame) []code.Frame {
	at := c.Innermost(stack)
	if at < 0 {
		return nil
	}
	inner := ""
	for _, f := range stack[:at] {
		if Dependency(f.Function) {
			inner, _ = Split(f.Function)
		}
	}
	for at < len(stack) && (c.User(stack[at]) || !Dependency(stack[at].Function)) {
		at++
	}
	if at == len(stack) || inner == "" || c.Innermost(stack[at:]) < 0 {
		return nil
	}
	if outer, _ := Split(stack[at].Function); !within(outer, inner) && !within(inner, outer) {
		return nil
	}
	return stack[at:]
}

// bare returns a function's name without its receiver: "Lock" of "(*Mutex).Lock".
func bare(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// Dependency reports whether a function outside the service is outside the standard library
// too. The runtime's assembly (gcWriteBarrier) has no package and is not a dependency.
func Dependency(function string) bool {
	pkg, _ := Split(function)
	return pkg != "" && !Standard(pkg)
}

// Serves reports whether a function does a piece of work for whoever calls it, with maps, copies and memory
// of its own: one of a dependency, or of the standard library beyond its helpers, such as (*url.URL).Query.
func Serves(function string) bool {
	pkg, _ := Split(function)
	if pkg == "" || strings.HasPrefix(pkg, "internal/") || strings.HasPrefix(pkg, "runtime/") {
		return false
	}
	_, helper := slices.BinarySearch(helpers[:], pkg)
	return !helper
}

// helpers are packages of the standard library whose functions belong to the code around them: a loop that
// searches text is to be optimised, not its calls of strings.Index to be kept.
var helpers = [...]string{
	"bufio", "bytes", "cmp", "container/heap", "container/list", "container/ring", "errors", "fmt", "io", "iter", "maps", "math",
	"math/bits", "reflect", "runtime", "slices", "sort", "strconv", "strings", "sync", "sync/atomic", "syscall", "type:", "unicode",
	"unicode/utf16", "unicode/utf8", "unsafe",
}

// Standard reports whether an import path is of the standard library: its first
// element has no dot and is one of the library's roots. The roots are listed
// because a main module may be called "shop" without a dot.
func Standard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	_, ok := slices.BinarySearch(standardRoots[:], first)
	return ok
}

var standardRoots = [...]string{
	"archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto",
	"database", "debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go",
	"hash", "html", "image", "index", "internal", "io", "iter", "log", "maps", "math",
	"mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices",
	"sort", "strconv", "strings", "structs", "sync", "syscall", "testing", "text",
	"time", "type:", "unicode", "unique", "unsafe", "vendor", "weak",
}

// within reports whether a package lies in a module or folder; false for an
// empty one.
func within(pkg, root string) bool {
	rest, ok := strings.CutPrefix(pkg, root)
	return ok && root != "" && (rest == "" || rest[0] == '/')
}
