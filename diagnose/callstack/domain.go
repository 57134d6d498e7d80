package callstack

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Domain returns the role to which a CPU sample is attributed: one of Domains, GCWork,
// GCIdle, GCAssist, Schedule, FileIO or FileWrite; 0 for the service's own work. See Book.
func (x *Index) Domain(stack []code.Frame) Role {
	role, _ := x.Book(stack)
	return role
}

// kept are domains that include user code that they call back: a comparison is part
// of the sort, a value that formats itself part of the logger, a tracer part of the
// database client. Metrics and tracing are excluded: they wrap the handler, whose
// work is not theirs.
const kept = Logging | Sort | DBClient

// callers are domains that pass through user code: an http.RoundTripper or an interceptor that calls on is part of
// the client, but what it does itself, such as scaling an image, is not.
const callers = HTTPClient | RPCClient

// users are domains that count only below a user's frame: the server itself formats
// dates and reads the clock for every request, and no change to the service removes
// that.
const users = Format | Clock | Sort | Reflect

// Book returns a CPU sample's role, as Domain does, and the index of the frame in which the
// domain begins; -1 if there is none.
//
// The outermost domain inside the handler wins: formatting inside a logger is
// logging, hashing inside a database handshake is the database client. It ends
// where it leaves the library: at a user's method that it calls back (but see
// kept), at a compressor that an encoder writes into, at an expression that a router
// compiles, and at the server's own writing of the answer.
//
// GC assists count as GCAssist wherever they happen; for the cost of allocation, look for
// Allocate.
func (x *Index) Book(stack []code.Frame) (role Role, at int) {
	all := x.Roles(stack)
	for _, collector := range []Role{GCIdle, GCAssist, GCWork} {
		if all.Has(collector) {
			return collector, -1
		}
	}
	inner := x.lentTo(x.Handler(stack))
	if x.loggingWrapper(inner) {
		return Logging, x.Find(inner, LogWrapper)
	}
	if at = x.ForLog(stack); at >= 0 {
		return Logging, at
	}
	if role, at = x.outermost(stack, inner); role != 0 {
		// Formatting into a file is logging by another name: fmt.Fprintf to an
		// *os.File in the request path costs as much as a logger.
		if role == Format && x.Roles(inner).Has(FileWrite) {
			role = FileWrite
		}
		if role == Compress && x.making(stack, all) {
			return 0, -1
		}
		return role, at
	}
	switch user := x.Innermost(stack); {
	case all.Has(FileIO|FileSync) && (user < 0 || !x.Work(stack[:user]).Has(SmallIO)):
		return FileIO, -1
	case all.Has(Schedule) && !all.Has(Server) && user < 0:
		return Schedule, -1
	}
	return 0, -1
}

// making reports whether a stack makes a library's value, by its constructor or by
// allocating its internals, rather than uses it. A compressor takes some hundred
// kilobytes: making one per answer may cost more than compressing, and has another
// remedy.
func (x *Index) making(stack []code.Frame, all Role) bool {
	m, ok := Makes(stack, x.Innermost(stack))
	return ok && (!m.Lazy || all.Has(Allocate))
}

// outermost walks from the handler inwards and returns the domain that the
// innermost frame is still in, and where that begins.
func (x *Index) outermost(stack, inner []code.Frame) (role Role, at int) {
	at = -1
	answering := false
	var codec Role // the domain that called a method of the user's for a value, and where it began
	codecAt := -1
	for i := len(inner) - 1; i >= 0; i-- {
		has := x.Role(inner[i].Function)
		switch {
		case role.Has(callers):
			user := x.Innermost(inner[:i+1])
			if user < 0 || x.Roles(inner[:user]).Has(callers) {
				return role, at
			}
			role, at, i = 0, -1, user
			continue
		case role.Has(kept):
			if role == DBClient {
				if j := x.decoder(inner[:i+1]); j >= 0 {
					role, at, i = x.Role(inner[j].Function)&JSON, j, j // no part of the client, whoever asked it to scan
					continue
				}
			}
			return role, at
		case has.Has(ServerIO):
			role, at, answering = 0, -1, true
		case role != 0 && x.User(inner[i]):
			if codec = 0; codes(inner[i].Function) {
				codec, codecAt = role, at
			}
			role, at = 0, -1
			continue
		case role != 0 && has.Has(Compress):
			role, at = Compress, i
		case role == Format && has.Has(TemplateParse):
			role, at = TemplateParse, i // html/template escapes a template on its first execution
		case role == TLS && has.Has(Handshake):
			role, at = Handshake, i // on the first read or write, or of tls.Dial
		case role == Router && has.Has(RegexpCompile):
			role, at = RegexpCompile, i // routes are known before any request is: matching needs no compiler
		}
		domain := has & Domains
		if role != 0 || domain == 0 {
			continue
		}
		domain &= -domain
		if domain.Has(users) && (answering || x.Innermost(stack[i:]) < 0 && !(domain.Has(Reflect|Sort) && x.served(inner[i+1:]))) {
			continue
		}
		if domain == Format && !rendered(inner[i].Function) && x.lent(inner[i+1:]) {
			return 0, -1
		}
		if role, at = domain, i; domain == codec {
			at = codecAt // who asked for the value can ask for less
		}
	}
	return role, at
}

// decoder returns the index of the outermost frame that decodes or encodes a column's value: a JSON decoder, or the Scan or Value of
// a type of the service's (sql.Scanner, driver.Valuer). -1 if there is none.
func (x *Index) decoder(below []code.Frame) int {
	for i := len(below) - 1; i >= 0; i-- {
		name, method := below[i].Function, bare(below[i].Function)
		if x.Role(name).Has(JSON) || (method == "Scan" || method == "Value") && x.User(below[i]) {
			return i
		}
	}
	return -1
}

// codes reports whether a function is a method by which a type encodes or decodes itself, called by an encoder. One that
// uses the same encoder for its fields is part of the encoding that called it.
func codes(function string) bool {
	switch bare(function) {
	case "MarshalJSON", "UnmarshalJSON", "MarshalJSONTo", "UnmarshalJSONFrom", "MarshalEasyJSON", "UnmarshalEasyJSON",
		"MarshalText", "UnmarshalText", "MarshalYAML", "UnmarshalYAML", "MarshalXML", "UnmarshalXML", "MarshalTOML", "UnmarshalTOML",
		"EncodeMsgpack", "DecodeMsgpack", "MarshalMsgpack", "UnmarshalMsgpack", "MarshalCBOR", "UnmarshalCBOR", "GobEncode", "GobDecode":
		return true
	}
	return false
}

// served reports whether a dependency's handler answers a request, given what is outside a use of CPU and inside of routers and
// middleware: what it decodes or sorts is the service's choice of handler. exporter-toolkit decodes its YAML for each request.
func (x *Index) served(outside []code.Frame) bool {
	return slices.ContainsFunc(outside, func(f code.Frame) bool {
		pkg, _ := Split(f.Function)
		return pkg != "" && !Standard(pkg) && !code.Probe(f) && !x.Role(f.Function).Has(ways)
	})
}

// ways are the roles of functions that only lead to a handler.
const ways = Server | Hop | Router

// rendered reports whether a function writes what its caller lays out: a framework passes on the user's
// template or format.
func rendered(function string) bool {
	pkg, name := Split(function)
	return strings.Contains(pkg, "template") || pkg == "fmt" && strings.HasPrefix(name, "Fprint")
}

// lent reports whether text is formatted for a dependency rather than for the user's code, given what is
// outside the formatting. Its caller can call the dependency less, but not append with strconv instead.
func (x *Index) lent(outside []code.Frame) bool {
	for _, f := range outside {
		switch pkg, _ := Split(f.Function); {
		case x.User(f):
			return false
		case pkg != "" && !Standard(pkg):
			return true
		}
	}
	return false
}

// Work returns the role, one of Works, of the frames below a user's function: map
// operations, moving bytes, one atomic operation, an unbuffered system call; 0 for none.
// The maps and copies of what serves the user are 0: they can call it less, but neither
// size its maps nor share what it copies.
func (x *Index) Work(below []code.Frame) Role {
	if len(below) == 0 {
		return 0
	}
	all := x.Roles(below)
	leaf := x.Role(below[0].Function)
	lent := slices.ContainsFunc(below, func(f code.Frame) bool { return Serves(f.Function) })
	switch {
	case leaf.Has(Atomic) && !loads(below[0].Function) && (len(below) == 1 || len(below) == 2 && x.Role(below[1].Function).Has(Atomic)):
		return Atomic
	case all.Has(Map) && !lent:
		return Map
	case leaf.Has(Copy) && !lent && !all.Has(allocating) && !(all.Has(Allocate) && clears(below[0])):
		return Copy
	case all.Has(SmallIO) && all.Has(FileIO|SocketIO) && !all.Has(FileSync) && (!all.Has(Buffered) || x.flushed(below)):
		return SmallIO
	}
	return 0
}

// loads reports whether an atomic operation only reads its word: a loop over a list without locks waits for memory, as any other does.
func loads(function string) bool {
	_, name := Split(function)
	return strings.HasPrefix(bare(name), "Load")
}

// flushed reports whether the user's function emptied the buffer itself; otherwise
// it was full.
func (x *Index) flushed(below []code.Frame) bool {
	for i, f := range below {
		if x.Role(f.Function).Has(Flush) && (i == len(below)-1 || !x.Role(f.Function).Has(Buffered)) {
			return true
		}
	}
	return false
}

// clears reports whether a frame is the runtime's zeroing of memory. Below the
// allocator it zeroes new memory, and the remedy is to allocate less; growing a slice
// moves memory there as well, which is a copy.
func clears(f code.Frame) bool { return strings.HasPrefix(f.Function, "runtime.memclr") }

// allocating are functions that clear or move memory on behalf of the allocator or
// the collector, so that their memmove is no copy of the user's.
const allocating = GCWork | GCAssist | Spawn

// ForLog returns the index of the function that a request calls only for what it returns to be logged; -1 if there is none. Go
// calls it before the logger, which may drop the record. A service may also run in such a call, which is why others than
// requests do not count.
func (x *Index) ForLog(stack []code.Frame) int {
	if len(x.Logged) == 0 || !x.Serves(stack) {
		return -1
	}
	for i := len(stack) - 1; i > 0; i-- {
		if callee := stack[i-1].Function; x.Logged.Has(stack[i]) && x.User(stack[i]) && !Runtime(callee) && !x.Role(callee).Has(Logging) {
			return i - 1
		}
	}
	return -1
}

// loggingWrapper reports whether a stack is a logging middleware's own work.
func (x *Index) loggingWrapper(inner []code.Frame) bool {
	return x.Find(inner, Logging) < 0 && x.logging(inner)
}

// Unit returns the function that a frame's work counts for: for a literal the function around it, which hands it to what it calls. A
// literal that a request reaches without that function is a handler that it made before, one of several perhaps, and counts for itself.
func (x *Index) Unit(stack []code.Frame, at int) string {
	function := stack[at].Function
	named := Enclosing(function)
	if !literal(function) || !x.Serves(stack) {
		return named
	}
	for _, f := range stack[at+1:] {
		if Enclosing(f.Function) == named {
			function = f.Function
		}
	}
	if literal(function) {
		return Literal(function)
	}
	return named
}

// Serves reports whether a stack belongs to a server's goroutine, hence to a
// request. Goroutines that a handler starts are not recognised: their stacks end at
// the go statement.
func (x *Index) Serves(stack []code.Frame) bool {
	return x.Roles(stack).Has(Server)
}
