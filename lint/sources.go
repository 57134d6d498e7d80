package lint

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/service/compiler"
	"github.com/redline-go/redline/service/syntax"
)

// sources are the service's packages whose files are at hand.
type sources struct {
	listed  []compiler.Package
	mainPkg string // the one that was built; "" if it is not known
}

// file returns the source file that a frame lies in; ok is false if its package is not at hand.
func (s sources) file(f code.Frame) (name string, ok bool) {
	pkg, _ := callstack.Split(f.Function)
	return s.fileOf(pkg, f.File)
}

// fileOf returns a package's source file of a file's name.
func (s sources) fileOf(pkg, file string) (name string, ok bool) {
	for _, p := range s.listed {
		if p.ImportPath == pkg || mainOf(p, pkg, s.mainPkg) {
			return filepath.Join(p.Dir, path.Base(file)), true
		}
	}
	return "", false
}

// mainOf reports whether a listed package is the main one that a frame's package means.
func mainOf(p compiler.Package, pkg, mainPkg string) bool {
	return p.Name == "main" && pkg == "main" && (mainPkg == "" || mainPkg == p.ImportPath)
}

// those returns the lines of which something holds, such as that they lie in a loop of their function. A line whose source
// is not at hand is left out.
func (s sources) those(lines []code.Frame, is func(file string, line int) (bool, error)) (in []code.Frame) {
	for _, f := range lines {
		if name, ok := s.file(f); ok {
			if holds, err := is(name, f.Line); err == nil && holds {
				in = append(in, f)
			}
		}
	}
	return in
}

// logged returns the lines that compute what a logger is given.
func (s sources) logged(lines []code.Frame) (in []code.Frame) {
	read := map[string][]syntax.Span{}
	for _, f := range lines {
		name, ok := s.file(f)
		if !ok {
			continue
		}
		spans, known := read[name]
		if !known {
			spans, _ = syntax.Logged(name) // what does not parse logs nothing
			read[name] = spans
		}
		if slices.ContainsFunc(spans, func(s syntax.Span) bool { return s.Has(f.Line) }) {
			in = append(in, f)
		}
	}
	return in
}

// calls returns the lines that call a function of a package, of the sources that are at hand.
func (s sources) calls(pkg, function string) (lines []code.Frame) {
	for _, p := range s.listed {
		name := p.ImportPath
		switch {
		case mainOf(p, "main", s.mainPkg):
			name = "main"
		case p.Name == "main":
			continue // of another program
		}
		files, _ := filepath.Glob(filepath.Join(p.Dir, "*.go")) // its error is the pattern's
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			if content, err := os.ReadFile(file); err != nil || !bytes.Contains(content, []byte(function)) {
				continue // parsing all would take a second
			}
			called, _ := syntax.Calls(file, pkg, function) // what does not parse calls nothing
			for _, c := range called {
				lines = append(lines, code.Frame{Function: name + "." + c.In, File: file, Line: c.Line})
			}
		}
	}
	return lines
}

// relays returns the lines that only pass on the statements and requests which they are given. It walks
// each stack outwards, to the function that states something itself.
func (s sources) relays(askers []diagnose.Asker) (lines []code.Frame) {
	for _, asker := range askers {
		stack := asker.Frames
		for at := 0; at < len(stack) && s.passesOn(stack[at], asker.Call) && !(asker.Call && madeElsewhere(stack, at)); {
			next := outside(stack, at)
			for _, a := range stack[at:next] {
				if !slices.Contains(lines, a.Frame) {
					lines = append(lines, a.Frame)
				}
			}
			at = next
		}
	}
	return lines
}

// madeElsewhere reports whether a frame is a closure that is called after the function around it has returned. What it sends to was
// given to that function, and not by whoever calls the closure.
func madeElsewhere(stack []diagnose.AskingFrame, at int) bool {
	function := callstack.Enclosing(stack[at].Frame.Function)
	return function != stack[at].Frame.Function && at+1 < len(stack) &&
		!slices.ContainsFunc(stack[at+1:], func(a diagnose.AskingFrame) bool { return a.Frame.Function == function })
}

func (s sources) passesOn(a diagnose.AskingFrame, call bool) bool {
	name, ok := s.file(a.Frame)
	if !ok {
		return false
	}
	sends := syntax.SendsMapped
	switch {
	case call:
		sends = syntax.SendsRequest
	case a.Text:
		sends = syntax.SendsText
	}
	relay, err := syntax.Relays(name, a.Frame.Line, sends)
	return err == nil && relay
}

// outside returns the index of the frame outside the function around the given one. Between a closure and
// the function that it lies in there may be helpers that call what they are given, such as one that retries.
func outside(stack []diagnose.AskingFrame, at int) int {
	function := callstack.Enclosing(stack[at].Frame.Function)
	if function == stack[at].Frame.Function {
		return at + 1
	}
	for i := at + 1; i < len(stack); i++ {
		if stack[i].Frame.Function == function {
			return i + 1
		}
	}
	return at + 1 // it runs on a goroutine of its own
}
