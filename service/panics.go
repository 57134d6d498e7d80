package service

import (
	"path"
	"regexp"
	"strings"

	"github.com/redline-go/redline/notation"
)

// panicStackLines is how many lines after a panic's first one are searched for its
// place: a stack below a deep middleware has some eighty, two lines each.
const panicStackLines = 200

// panics counts the panics that a service survives, as net/http and gin print them
// on standard error, and keeps the first one's message and place. The load sees
// such a request as a closed connection or a status of 500, without a reason.
type panics struct {
	count   int64
	message string
	site    string // "main.(*shop).price (main.go:33)"; empty until found

	left   int    // lines left of the first one's stack
	before string // the line before
	below  bool   // in net/http's form: the frames that caused it have begun
	file   string // in gin's form, which names the function on the line after
}

// ginFrame is a frame as gin prints it: "/src/shop/main.go:33 (0x753acb)".
var ginFrame = regexp.MustCompile(`^(/\S+\.go:\d+) \(0x[0-9a-f]+\)$`)

// wants reports whether take would use a line.
func (p *panics) wants(line string) bool {
	_, begins := panicked(line)
	return begins || p.left > 0 && p.site == ""
}

// take takes one line of the service's standard error.
func (p *panics) take(line string) {
	if message, ok := panicked(line); ok {
		p.count++
		if p.count == 1 {
			p.message, p.left = message, panicStackLines
		}
		return
	}
	if p.left == 0 || p.site != "" {
		return
	}
	p.left--
	trimmed := strings.TrimSpace(line)
	if found := ginFrame.FindStringSubmatch(trimmed); found != nil {
		if p.message == "" { // gin prints it between the request's header and the stack
			p.message = p.before
		}
		p.file = found[1]
	} else if p.file != "" {
		function, _, _ := strings.Cut(trimmed, ": ")
		p.found(function, p.file)
		p.file = ""
	} else if strings.HasPrefix(trimmed, "panic(") {
		p.below = true
	} else if function, ok := strings.CutSuffix(p.before, ")"); ok && p.below && strings.Contains(trimmed, ".go:") {
		at, _, _ := strings.Cut(trimmed, " ")
		p.found(function[:max(strings.LastIndexByte(function, '('), 0)], at)
	}
	p.before = trimmed
}

// found takes a frame as the panic's site, unless it is the runtime's, which raises
// panics for indices and nil pointers.
func (p *panics) found(function, file string) {
	if function = path.Base(function); function != "panic" && function != "." && !strings.Contains(file, "/src/runtime/") {
		p.site = function + " (" + path.Base(file) + ")"
	}
}

// panicked reports whether a line begins the report of a panic that the service
// survived, and returns its message where the line holds it.
func panicked(line string) (message string, ok bool) {
	if _, rest, ok := strings.Cut(line, "http: panic serving "); ok {
		_, message, _ := strings.Cut(rest, ": ") // the address's own colons have no space after them
		return message, true
	}
	return "", strings.Contains(line, "panic recovered:")
}

// String is what was seen as a warning of the run, "" without a panic.
func (p *panics) String() string {
	if p.count == 0 {
		return ""
	}
	text := "the service panicked in " + notation.Counted(p.count, "request", "requests")
	if p.message != "" {
		text += ": " + p.message[:min(len(p.message), tailWidth)]
	}
	if p.site != "" {
		text += ", in " + p.site
	}
	return text
}
