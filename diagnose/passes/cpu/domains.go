package cpu

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
)

// Least shares of the service's CPU. A healthy JSON service spends 5 to 10 % on
// encoding and formatting, and a lean one up to 15 % on the JSON of its tokens; hashing a token 2 to 5 %; logging a line 2 to 5 %.
// Each bound is about twice what is ordinary. Compiling an expression belongs in
// no request, so a little of it is enough.
const (
	leastJSON     = 0.18
	leastLogging  = 0.10
	leastCompile  = 0.05
	leastMatch    = 0.12
	leastFormat   = 0.15
	leastCrypto   = 0.15
	leastCompress = 0.15
)

// JSON finds services that spend their CPU on JSON.
var JSON = domain{
	name: "json", roles: callstack.JSON, least: leastJSON,
	doc:   "Counts CPU samples inside JSON encoders and decoders, from 18 % of the service's CPU.",
	title: fixed("JSON encoding and decoding"),
	cause: diagnose.Cause{
		ID: "cpu-json", Title: "JSON takes the CPU",
		Doc:    "A large part of the CPU is spent encoding or decoding JSON.",
		Remedy: "A generated or faster encoder, a smaller body, an encoded answer kept.",
	},
	remedy: func(h diagnose.Hot) string {
		if strings.HasPrefix(h.Callee, "json.") {
			return fmt.Sprintf("At %s use generated code or a faster encoder for these types (the standard one reflects on every value), send fewer fields, or keep the encoded bytes.", diagnose.At(h.Place))
		}
		return fmt.Sprintf("At %s send fewer fields, or keep the encoded bytes; the encoder is a fast one already.", diagnose.At(h.Place))
	},
}.analyzer()

// Logging finds services that spend their CPU on log lines.
var Logging = domain{
	name: "logging", roles: callstack.Logging | callstack.FileWrite, least: leastLogging, waits: callstack.LogWait,
	doc: "Counts CPU samples inside loggers, logging middleware and writes to files, from 10 % of the service's CPU, " +
		"and waits inside loggers, from 20 % of request time.",
	title: fixed("Writing log lines"),
	cause: diagnose.Cause{
		ID: "cpu-logging", Title: "Logging takes the CPU",
		Doc:    "A large part of the CPU or of request time goes into formatting and writing log records, one write per line.",
		Remedy: "A higher level, sampling, or an asynchronous, buffered writer.",
	},
	remedy: func(h diagnose.Hot) string {
		return fmt.Sprintf("At %s log less (level, sampling), and write through a buffer that another goroutine flushes instead of one system call per line.", diagnose.At(h.Place))
	},
}.analyzer()

// RegexpCompile finds regular expressions compiled per request.
var RegexpCompile = domain{
	name: "regexp-compile", roles: callstack.RegexpCompile, least: leastCompile,
	doc:   "Counts CPU samples inside regexp.Compile and its kin, from 5 % of the service's CPU.",
	title: fixed("Compiling regular expressions"),
	cause: diagnose.Cause{
		ID: "cpu-regexp-compile", Title: "Regular expressions are compiled in the request path",
		Doc:    "An expression is parsed and compiled for each use, as regexp.MatchString does.",
		Remedy: "Compile once, in a package variable.",
	},
	remedy: func(h diagnose.Hot) string {
		return fmt.Sprintf("Compile the expression once (var re = regexp.MustCompile(...) outside the function) instead of at %s.", diagnose.At(h.Place))
	},
}.analyzer()

// RegexpMatch finds services that spend their CPU on matching.
var RegexpMatch = domain{
	name: "regexp-match", roles: callstack.RegexpMatch, least: leastMatch,
	doc:   "Counts CPU samples inside matching of regular expressions, from 12 % of the service's CPU.",
	title: fixed("Matching regular expressions"),
	cause: diagnose.Cause{
		ID: "cpu-regexp-match", Title: "Regular expressions take the CPU",
		Doc:    "A large part of the CPU is spent matching.",
		Remedy: "strings.Cut, a hand-written parser, or a simpler expression tried first.",
	},
	remedy: func(h diagnose.Hot) string {
		return fmt.Sprintf("Replace the expression at %s with string functions or a small parser; test a cheap condition first.", diagnose.At(h.Place))
	},
}.analyzer()

// Format finds services that spend their CPU on building strings.
var Format = domain{
	name: "format", roles: callstack.Format, least: leastFormat,
	doc:   "Counts CPU samples inside fmt, strconv, templates and string building, from 15 % of the service's CPU.",
	title: fixed("Formatting text"),
	cause: diagnose.Cause{
		ID: "cpu-format", Title: "Formatting takes the CPU",
		Doc:    "A large part of the CPU is spent in fmt, string building and conversions.",
		Remedy: "strconv.Append and append into a reused buffer.",
	},
	remedy: func(h diagnose.Hot) string {
		return fmt.Sprintf("At %s append with strconv into a reused buffer instead of %s.", diagnose.At(h.Place), callee(h, "fmt"))
	},
}.analyzer()

// Crypto finds services that spend their CPU on hashing and signing.
var Crypto = domain{
	name: "crypto", roles: callstack.Crypto, least: leastCrypto,
	doc:   "Counts CPU samples inside hashes, signatures and password hashes (not TLS), from 15 % of the service's CPU.",
	title: func(h diagnose.Hot) string { return "Hashing and signing (" + callee(h, "crypto") + ")" },
	cause: diagnose.Cause{
		ID: "cpu-crypto", Title: "Hashing and signing take the CPU",
		Doc:    "A large part of the CPU is spent in hashes, signatures or password hashing.",
		Remedy: "Remember what was verified, lower the cost where it is safe, use an algorithm the CPU has instructions for.",
	},
	remedy: func(h diagnose.Hot) string {
		return fmt.Sprintf("Remember the result of %s for as long as it is valid (a verified token until it expires) instead of computing it in every request at %s.", callee(h, "the hash"), diagnose.At(h.Place))
	},
}.analyzer()

// Compress finds services that spend their CPU on compression.
var Compress = domain{
	name: "compress", roles: callstack.Compress, least: leastCompress,
	doc:   "Counts CPU samples inside compressors and decompressors, from 15 % of the service's CPU.",
	title: fixed("Compression"),
	cause: diagnose.Cause{
		ID: "cpu-compress", Title: "Compression takes the CPU",
		Doc:    "A large part of the CPU is spent compressing or decompressing bodies.",
		Remedy: "A lower level, no compression of small bodies, writers reused, answers kept compressed.",
	},
	remedy: func(h diagnose.Hot) string {
		return fmt.Sprintf("At %s use a lower level, skip bodies below a kilobyte or two, reuse writers (Reset), or keep the compressed answer.", diagnose.At(h.Place))
	},
}.analyzer()

func callee(h diagnose.Hot, otherwise string) string {
	if h.Callee == "" {
		return otherwise
	}
	return h.Callee
}
