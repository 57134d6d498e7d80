package callstack

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Split divides a function's full name as the runtime prints it into its
// package's import path and the rest: "net/http" and "(*conn).serve". Type
// arguments are dropped ("Pool[...]" reads "Pool"), an escaped dot in the last
// path element is restored, and a major version at the end of the path stays.
func Split(function string) (pkg, name string) {
	function = dropTypeArguments(function)
	slash := strings.LastIndexByte(function, '/')
	dot := strings.IndexByte(function[slash+1:], '.')
	if dot < 0 {
		return "", function
	}
	pkg, name = function[:slash+1+dot], function[slash+1+dot+1:]
	return strings.ReplaceAll(pkg, "%2e", "."), name
}

// dropTypeArguments removes every balanced [...]: type arguments hold import
// paths of their own, whose slashes and dots would mislead Split.
func dropTypeArguments(function string) string {
	if !strings.Contains(function, "[") {
		return function
	}
	var b strings.Builder
	depth := 0
	for i := range len(function) {
		switch c := function[i]; {
		case c == '[':
			depth++
		case c == ']':
			depth = max(0, depth-1)
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Elided returns a function's name with its type arguments as traces write them, "Pool[...]":
// profiles write them out, as the shapes that the compiler shares code between.
func Elided(function string) string {
	open, end := strings.IndexByte(function, '['), strings.LastIndexByte(function, ']')
	if open < 0 || end < open {
		return function
	}
	return function[:open] + "[...]" + function[end+1:]
}

// Short returns a function's short name: the last element of its package's path and the
// name, "sql.(*DB).conn".
func Short(function string) string {
	pkg, name := Split(Literal(function))
	if pkg == "" {
		return name
	}
	return lastElement(pkg) + "." + name
}

// Locks reports whether a function takes a lock, by its name: (*Mutex).lockContext, TryLock, AcquireLock.
func Locks(function string) bool {
	name := function[strings.LastIndexByte(function, '.')+1:]
	return strings.HasPrefix(name, "lock") || strings.Contains(name, "Lock") && !strings.Contains(name, "Unlock")
}

// Library returns a short name for the package of a function, as Short has it; "" for one without a package.
func Library(function string) string {
	pkg, _ := Split(function)
	return lastElement(pkg)
}

// lastElement returns the last element of an import path that is no major version.
func lastElement(pkg string) string {
	elements := strings.Split(pkg, "/")
	last := elements[len(elements)-1]
	if len(elements) > 1 && majorVersion(last) {
		last = elements[len(elements)-2]
	}
	return last
}

// Owner returns what a function belongs to: the receiver type of a method, the enclosing
// function of a closure, otherwise the function itself. So waits in Get and Set of one type
// count as one place.
func Owner(function string) string {
	pkg, name := Split(Literal(function))
	if receiver, _, ok := strings.Cut(name, ")."); ok && strings.HasPrefix(receiver, "(") {
		return pkg + "." + receiver + ")"
	}
	return Enclosing(function)
}

// Enclosing returns the declared function that a closure lies in: "main.f" for
// "main.f.func1.2", "main.f-range1" and "main.f.gowrap1", "main.(*T).m" for "main.(*T).m.func1".
func Enclosing(function string) string {
	pkg, name := Split(Literal(function))
	rest := ""
	if receiver, method, ok := strings.Cut(name, ")."); ok && strings.HasPrefix(name, "(") {
		rest, name = receiver+").", method
	}
	parts := strings.Split(name, ".")
	kept := 1
	// A value receiver reads T.m: keep the method unless it is a closure's mark.
	if rest == "" && len(parts) > 1 && !closureMark(parts[1]) {
		kept = 2
	}
	name = rest + strings.Join(parts[:kept], ".")
	name = strings.TrimSuffix(name, "-fm")
	if pkg == "" {
		return name
	}
	return pkg + "." + name
}

// Literal returns the name of a function literal without the functions that the one around it was inlined into, which the compiler
// puts before it: "main.(*T).handle.func1" for "main.routes.(*T).handle.func1". The package stays that of the outermost. The body of
// a loop over a function, "main.f-range1", is part of the function around it. Other names stay as they are. Two functions without a
// receiver could be a type and its method, and stay too.
func Literal(function string) string {
	function = loopless(function)
	if !closureMark(function[strings.LastIndexByte(function, '.')+1:]) || strings.Contains(function, "[") {
		return function // most are no literals, and they are asked for by every stack
	}
	pkg, name := Split(function)
	if pkg == "" {
		return function
	}
	parts := strings.Split(name, ".")
	end := len(parts)
	for end > 1 && closureMark(parts[end-1]) {
		end--
	}
	from := end - 1
	if from > 0 && strings.HasPrefix(parts[from-1], "(") {
		from--
	}
	if from == 0 || end == len(parts) || from == 1 && end == 2 {
		return function
	}
	return function[:len(function)-len(name)] + strings.Join(parts[from:], ".")
}

// loopless returns a function's name without the mark of a loop's body, which the compiler makes a function of.
func loopless(function string) string {
	if at := strings.LastIndex(function, "-range"); at > 0 && digits(function[at+len("-range"):]) {
		return function[:at]
	}
	return function
}

// Unwrapped returns the function that a compiler's wrapper of its defer or go statement stands for: "main.f" for
// "main.f.deferwrap1". Other names stay as they are.
func Unwrapped(function string) string {
	at := strings.LastIndexByte(function, '.')
	if at < 0 {
		return function
	}
	for _, mark := range []string{"gowrap", "deferwrap"} {
		if rest, ok := strings.CutPrefix(function[at+1:], mark); ok && digits(rest) {
			return function[:at]
		}
	}
	return function
}

// literal reports whether a function is one within another.
func literal(function string) bool {
	function = loopless(function)
	return closureMark(function[strings.LastIndexByte(function, '.')+1:])
}

// closureMark reports whether a name element is one the compiler gives to
// closures and wrappers.
func closureMark(element string) bool {
	for _, mark := range []string{"func", "gowrap", "deferwrap"} {
		if rest, ok := strings.CutPrefix(element, mark); ok && digits(rest) {
			return true
		}
	}
	return digits(element)
}

func majorVersion(element string) bool {
	rest, ok := strings.CutPrefix(element, "v")
	return ok && rest != "" && digits(rest)
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// At formats a place: "orders.go:41"; the function if the file is unknown.
func At(f code.Frame) string {
	if f.File == "" {
		return Short(f.Function)
	}
	return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
}

// Decodes reports whether the name of an encoding package's function says that it decodes.
func Decodes(function string) bool {
	_, name := Split(function)
	name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	for _, verb := range []string{"unmarshal", "decode", "parse", "get", "read", "token", "more"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}

// Unpacks reports whether the name of a compressing package's function says that it decompresses.
func Unpacks(function string) bool {
	_, name := Split(function)
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"reader", "decompress", "decod", "uncompress", "inflat", "unzip"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// EntersGenerated reports whether a function runs code that was generated while the program ran, in which a profiler sees no
// function: wazero, which compiles WebAssembly.
func EntersGenerated(function string) bool {
	return strings.HasPrefix(function, "github.com/tetratelabs/wazero/internal/engine/")
}
