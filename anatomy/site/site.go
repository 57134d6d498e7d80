// Package site says what stack frames mean to the owner of a service: which are the
// target's own code, where a wait happens, and which functions work is attributed to. It
// knows only frames: no trace, no server.
package site

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Ownership separates the target's own code from that of others.
type Ownership struct{ paths []string }

// NewOwnership returns the ownership of modules, by their paths; without one every package
// outside the standard library and the module cache counts as the target's own.
func NewOwnership(modules ...string) Ownership {
	var own Ownership
	for _, p := range modules {
		if p != "" {
			own.paths = append(own.paths, p)
		}
	}
	return own
}

// Owns reports whether a frame is the target's own code: of the modules, or of others that are being edited. redline's
// probe is not, though builds inject it into the target's module.
func (o Ownership) Owns(f code.Frame) bool {
	if code.Probe(f) {
		return false
	}
	pkg := packageOf(f.Function)
	if pkg == "main" {
		return true
	}
	for _, p := range o.paths {
		if pkg == p || strings.HasPrefix(pkg, p+"/") {
			return true
		}
	}
	if len(o.paths) > 0 {
		return code.Edited(pkg, f.File)
	}
	return !standard(pkg, f.File) && !strings.Contains(f.File, "@v") && !code.Vendored(f.File)
}

// standard reports whether a package is of the standard library: a path without
// a dot in its first element, from a file where GOROOT (or, with -trimpath,
// nothing) precedes that path. What other packages link from the runtime, such as
// time.Sleep, has its file there.
func standard(pkg, file string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	dir := path.Dir(file)
	for _, p := range []string{pkg, "runtime"} {
		if dir == p || strings.HasSuffix(dir, "/src/"+p) {
			return !strings.Contains(first, ".")
		}
	}
	return file == ""
}

// plumbing reports whether a function only carries bytes or values for another
// one that a reader would name: net.(*conn).Read below a database driver.
func plumbing(function string) bool {
	for _, prefix := range []string{"net/http.checkConnErrorWriter.", "net/http.(*connReader).",
		"net/http.(*persistConn).Read", "net/http.persistConnWriter."} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	pkg := packageOf(function)
	switch pkg {
	case "net", "os", "io", "bufio", "bytes", "strings", "time", "context", "crypto/tls", "net/textproto", "fmt", "log":
		return true
	}
	return strings.HasPrefix(pkg, "compress/") || strings.HasPrefix(pkg, "encoding/") ||
		strings.Contains(pkg, "/internal/") || strings.HasSuffix(pkg, "/internal")
}

// position names a frame of the target's own.
func position(f code.Frame) string {
	return fmt.Sprintf("%s %s:%d", f.Function, path.Base(f.File), f.Line)
}

// Caller names the innermost frame of the target's own; "" without one.
func (o Ownership) Caller(frames []code.Frame) string {
	for _, f := range frames {
		if o.Owns(f) {
			return position(f)
		}
	}
	return ""
}

// Site names the site of a wait as "mechanism < caller file.go:12": the innermost
// function that a reader would name, and the target's own frame that called it; either
// stands alone if the other is missing. For a lock the caller is named, because the
// state says that it is a lock; a WaitGroup or a Cond is named itself, because the state
// does not.
func (o Ownership) Site(frames []code.Frame, kind Sync) string {
	mechanism, within := "", ""
	for i, f := range frames {
		if o.Owns(f) {
			caller := position(f)
			if mechanism = cmp.Or(mechanism, within); mechanism == "" {
				return caller
			}
			return mechanism + " < " + caller
		}
		switch pkg := packageOf(f.Function); {
		case mechanism != "":
		case pkg == "sync" && kind == syncOther:
			within = f.Function
		case below(f.Function):
		case !plumbing(f.Function):
			mechanism = f.Function
		// Of plumbing, the entry of the innermost package: os.(*File).Write, not the
		// formatter above it.
		case within == "" || i > 0 && packageOf(frames[i-1].Function) == pkg && packageOf(within) == pkg:
			within = f.Function
		}
	}
	if mechanism = cmp.Or(mechanism, within); mechanism == "" && len(frames) > 0 {
		mechanism = frames[0].Function
	}
	return mechanism
}
