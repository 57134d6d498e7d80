package callstack

import (
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Role is a set of meanings that a function can have in a stack.
type Role uint64

// Roles. A function may have several.
const (
	Server       Role = 1 << iota // a server's goroutine that serves requests
	Accept                        // a server's goroutine that accepts connections
	ServerIO                      // a server reads a request or writes a response
	Hop                           // a router or middleware calls the next handler
	DBClient                      // database/sql or a database driver
	DBPool                        // takes a connection from a pool
	DBConnect                     // opens a database connection
	DBClose                       // closes one
	DBPrepare                     // has the server prepare a statement
	DBUnprepared                  // has the server parse and plan a statement for one use
	DBTransact                    // begins, commits or rolls back
	DBRows                        // reads the rows of an answer
	DBAutocommit                  // an embedded database begins or ends the transaction of a single statement
	HTTPClient                    // an HTTP client's exchange
	HTTPConnect                   // an HTTP client gets or opens a connection
	RPCClient                     // a client of another protocol: gRPC, Redis, Kafka
	Store                         // of these, a key-value store's, whose protocol takes many commands at once
	ClientPool                    // takes a connection from such a client's pool
	Semaphore                     // a counting semaphore's acquire
	SingleFlight                  // waits for another's computation
	RateLimit                     // a rate limiter or back-off waits
	ReadLock                      // RWMutex.RLock
	WriteLock                     // RWMutex.Lock
	FileSync                      // fsync and its kin
	FileIO                        // reads or writes a file
	FileWrite                     // of these, the writes
	FileMeta                      // of these, opening files and reading their names, sizes and dates
	SocketIO                      // reads or writes a network connection
	Cgo                           // calls C
	Logging                       // formats or writes log records
	LogWrapper                    // a logging middleware, which also calls the next handler
	JSON                          // encodes or decodes JSON
	Instrument                    // counts, times or traces what the service does
	RegexpCompile
	RegexpMatch
	TemplateParse // parses a template, or escapes one on its first execution; before Format, which contains it
	Router        // finds the handler of a request
	Sort          // sorts
	Reflect       // reflection, and encoders and binders made of it
	Clock         // reads the clock or a random source; before Crypto, which contains one
	Format        // fmt, string building, conversion
	Handshake     // a TLS handshake
	TLS           // the rest of crypto/tls; before Crypto, which contains it
	Crypto        // hashes, signs, encrypts, password hashes
	Compress      // compression
	Map           // the runtime's maps
	Copy          // moves bytes
	Atomic        // one atomic operation
	SmallIO       // a system call that reads or writes
	Buffered      // reads or writes through a buffer
	Flush         // flushes a buffer before it is full
	Allocate      // the runtime's allocator
	GCAssist      // marking done by an allocation
	GCWork        // background marking and sweeping
	GCIdle        // marking on a CPU that had nothing else to do
	Spawn         // starts or ends a goroutine, or grows its stack
	Schedule      // the scheduler
	Dial          // opens a network connection
	Child         // starts another process, or waits for it
	Messages      // a connection on which either side sends messages when it likes
)

// Domains are the roles by which CPU is divided.
const Domains = DBClient | HTTPClient | RPCClient | Logging | Instrument | JSON | RegexpCompile | RegexpMatch | TemplateParse |
	Router | Sort | Reflect | Clock | Format | Handshake | TLS | Crypto | Compress | Child

// Works are the roles by which a function's own time is divided, below the domains: work
// of the runtime and the kernel for the innermost user function.
const Works = Map | Copy | Atomic | SmallIO

// Has reports whether r has any role of other.
func (r Role) Has(other Role) bool { return r&other != 0 }

// rule gives a role to the functions of a package whose name begins with one of the
// prefixes, or is one that ends in "$"; no prefixes means all. A package that ends in "/..." covers those below
// it too, and a major version after the path is ignored.
type rule struct {
	pkg      string
	prefixes string // separated by spaces
	role     Role
}

// Index looks up roles and caches them by function. NewIndex returns one. It is not safe
// for concurrent use.
type Index struct {
	Code
	byRoot map[string][]rule
	known  map[string]Role
}

// NewIndex returns an Index over the rules of this package.
func NewIndex(c Code) *Index {
	x := &Index{Code: c, byRoot: map[string][]rule{}, known: map[string]Role{}}
	for _, group := range [][]rule{serverRules, waitRules, databaseRules, clientRules, domainRules, runtimeRules} {
		for _, r := range group {
			x.add(r)
		}
	}
	for _, r := range clientRules {
		if r.pkg != "net/http" {
			continue
		}
		for _, r.pkg = range transportForks {
			x.add(r)
		}
	}
	return x
}

func (x *Index) add(r rule) {
	first := root(r.pkg)
	x.byRoot[first] = append(x.byRoot[first], r)
}

// root returns the first two path elements, by which rules are found.
func root(pkg string) string {
	pkg = strings.TrimSuffix(pkg, "/...")
	first, rest, ok := strings.Cut(pkg, "/")
	if !ok || !strings.Contains(first, ".") {
		return first
	}
	second, _, _ := strings.Cut(rest, "/")
	return first + "/" + second
}

// Role returns the roles of a function.
func (x *Index) Role(function string) Role {
	if role, ok := x.known[function]; ok {
		return role
	}
	pkg, name := Split(function)
	// Handlers call each other through this method, whatever type declares it.
	var role Role
	if strings.HasSuffix(name, ".ServeHTTP") {
		role = Hop
	}
	for _, r := range x.byRoot[root(pkg)] {
		if r.matches(pkg, name) {
			role |= r.role
		}
	}
	x.known[function] = role
	return role
}

// matches is the rule's test; see there for what a package and a prefix mean.
func (r rule) matches(pkg, name string) bool {
	path, below := strings.CutSuffix(r.pkg, "/...")
	rest, ok := strings.CutPrefix(pkg, path)
	if !ok || rest != "" && rest[0] != '/' {
		return false
	}
	if rest != "" && !below && !majorVersion(rest[1:]) {
		return false
	}
	if r.prefixes == "" {
		return true
	}
	for prefix := range strings.FieldsSeq(r.prefixes) {
		if whole, exact := strings.CutSuffix(prefix, "$"); exact && name == whole || !exact && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// Roles returns the union of the roles of a stack.
func (x *Index) Roles(stack []code.Frame) Role {
	var all Role
	for _, f := range stack {
		all |= x.Role(f.Function)
	}
	return all
}

// Find returns the index of the innermost frame with one of the roles, or -1.
func (x *Index) Find(stack []code.Frame, role Role) int {
	for i, f := range stack {
		if x.Role(f.Function).Has(role) {
			return i
		}
	}
	return -1
}

// Place returns the frame to name for a stack, like Code.Place, unless that one only passed the
// request on: below the user's middleware a library's handler may do the work, and that is what
// to replace or configure.
func (x *Index) Place(stack []code.Frame) (f code.Frame, ok bool) {
	if f, ok := x.HandedOn(stack); ok {
		return f, true
	}
	return x.Code.Place(x.Asked(stack))
}

// Asked returns the part of a stack from the user's function that asks a client, outwards. A client
// may call the user's code on its way, an http.RoundTripper that adds a header or an interceptor of
// gRPC's, and so may database/sql, a driver that wraps another to trace or count. That code asks for nothing: all calls of the
// service pass it. Nor do the user's relays.
func (x *Index) Asked(stack []code.Frame) []code.Frame {
	for at := x.Innermost(stack); at >= 0; at = x.Innermost(stack) {
		if x.Relays.Has(stack[at]) {
			at++
		} else if at = x.between(stack, at); at < 0 {
			break
		}
		if x.Innermost(stack[at:]) < 0 {
			break
		}
		stack = stack[at:]
	}
	return stack
}

// between returns the index of the client's function that called the user's code at an index, or -1.
func (x *Index) between(stack []code.Frame, at int) int {
	for at < len(stack) && x.User(stack[at]) {
		at++
	}
	if at == len(stack) || !x.Role(stack[at].Function).Has(HTTPClient|RPCClient) && !callsDriver(stack[at].Function) {
		return -1
	}
	if outer := x.Innermost(stack[at:]); outer >= 0 && strings.HasPrefix(stack[at-1].Function, stack[at+outer].Function+".func") {
		return -1 // a literal that the function which asks hands over, such as for a transaction of Redis: it asks by itself
	}
	return at
}

// callsDriver reports whether a function of database/sql calls the driver.
func callsDriver(function string) bool {
	pkg, name := Split(function)
	return pkg == "database/sql" && (name == "dsnConnector.Connect" || strings.HasPrefix(name, "ctxDriver") ||
		name == "(*DB).conn" || name == "(*DB).redline_conn" || name == "(*DB).openNewConnection")
}

// HandedOn returns the library's handler that a router or middleware called, if none of the
// user's code is below it; ok is false if the user's own handler was called. A handler of the
// user's that is a ServeHTTP itself hands on to a literal of a library's, and calls other functions.
func (x *Index) HandedOn(stack []code.Frame) (f code.Frame, ok bool) {
	inner := x.Handler(stack)
	if len(inner) == 0 || len(inner) == len(stack) || x.Innermost(inner) >= 0 {
		return f, false
	}
	f = inner[len(inner)-1]
	if x.User(stack[len(inner)]) && !literal(f.Function) {
		return f, false
	}
	pkg, _ := Split(f.Function)
	return f, pkg != "" && !Standard(pkg) && !code.Probe(f)
}

// Handler returns the part of a stack inside the innermost hop: what the last
// router or middleware called. Logging middleware around a handler is then outside,
// but its own work is inside.
func (x *Index) Handler(stack []code.Frame) []code.Frame {
	if i := x.Find(stack, Hop); i >= 0 {
		return stack[:i]
	}
	return stack
}

// Plumbing reports whether the goroutines that begin in a function are a client's own, such as
// a transport's reader: who waits for one waits in a call that the service made.
func (x *Index) Plumbing(entry string) bool {
	return x.Role(entry).Has(HTTPClient|HTTPConnect|RPCClient|DBClient|DBPool|DBConnect) && !x.User(code.Frame{Function: entry})
}
