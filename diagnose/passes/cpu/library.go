package cpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
)

// Least shares of the service's CPU at which a use is reported; see text.go.
// Balanced services of the corpus spend 2 to 5 % on hashing, up to 25 % on
// compression (letter-press), and up to 40 % on encryption on kept connections
// (tls-vault; not handshakes).
const (
	leastCrypto    = 0.15
	leastHandshake = 0.12
	leastCompress  = 0.15
	leastSort      = 0.15
	leastReflect   = 0.15
	leastClock     = 0.12
	leastRouter    = 0.15
)

// Crypto finds services that spend their CPU on hashing and signing.
//
// The gain must be large because most crypto is needed: a new password or signature
// has to be checked once. Only checking the same one again can be saved (club-door
// runs bcrypt in every request; its cost doubles with each step of its parameter).
// TLS is excluded by role, and so are handshakes of database drivers: SCRAM's 4,096
// rounds of HMAC (RFC 7677) look like password hashing, but the cause is a pool
// that churns.
var Crypto = domain{
	name: "crypto", roles: callstack.Crypto, least: leastCrypto, worth: from(purposeful),
	doc: "Counts CPU samples inside hashes, signatures and password hashes (not TLS), at 15 % or more of the service's CPU.",
	title: func(h usage.Hot) string {
		if callsAny(h, certificates...) {
			return "Parsing certificates (" + h.Callee + ")"
		}
		if callsAny(h, ciphers...) {
			return "Encrypting and decrypting (" + h.Callee + ")"
		}
		return "Hashing and signing (" + callee(h, "crypto") + ")"
	},
	cause: diagnose.Cause{
		ID: "cpu-crypto", Title: "Hashing and signing use too much CPU",
		Doc: "A large part of the CPU is spent in hashes, signatures, password hashing or encryption (other than TLS).",
		Knows: "CPU samples below hash, crypto and token packages, at 15 % or more of the service's CPU; a defect if removing it " +
			"would gain 1.55x, because a repeated verification can be cached but a first one cannot. TLS (cpu-tls), the random " +
			"source (cpu-clock) and the handshakes of database drivers do not count.",
		Remedy: "Cache verified results, lower the cost factor if that is safe, use an algorithm for which the CPU has " +
			"instructions.",
		Example: diagnose.Example{Lang: "go",
			Before: "if bcrypt.CompareHashAndPassword(user.Hash, password) != nil { // in every request",
			After:  "if !sessions.Valid(token) { // bcrypt once, at login"},
		Verify: verify, Cases: []string{"club-door", "seal-documents", "crew-roster", "letter-press"},
	},
	remedy: func(h usage.Hot) string {
		if strings.HasSuffix(h.Callee, "Dial") || strings.HasSuffix(h.Callee, "NewClientConn") {
			return fmt.Sprintf("Keep the connection that %s opens at %s and reuse it for later requests: its handshake signs and "+
				"verifies each time.", h.Callee, diagnose.At(h.Place))
		}
		if callsAny(h, certificates...) {
			return fmt.Sprintf("Parse the certificates once, at start-up or when their file changes, and keep them, or the client "+
				"made from them, instead of calling %s in every request at %s.", h.Callee, diagnose.At(h.Place))
		}
		if callsAny(h, passwords...) {
			return fmt.Sprintf("Check a password once: accept a session or token after the login, or, with basic authentication, cache "+
				"for some minutes that it was right. If these requests are the logins, %s at %s costs what its parameters ask for: lower "+
				"them as far as your policy allows.", h.Callee, diagnose.At(h.Place))
		}
		if callsAny(h, ciphers...) {
			return fmt.Sprintf("At %s, encrypt or decrypt the same data once and keep the result, or less data; an algorithm for which "+
				"the CPU has instructions (AES-GCM) takes the least time. %s is called for every use.", diagnose.At(h.Place), h.Callee)
		}
		return fmt.Sprintf("Cache the result of %s for as long as it is valid (a verified token until it expires) "+
			"instead of computing it in every request at %s.", callee(h, "the hash"), diagnose.At(h.Place))
	},
}.analyzer()

// passwords are the calls that hash them, slowly by intent.
var passwords = []string{"bcrypt.CompareHashAndPassword", "bcrypt.GenerateFromPassword", "scrypt.Key", "argon2.IDKey", "argon2.Key",
	"pbkdf2.Key"}

// ciphers are the packages that encrypt and decrypt.
var ciphers = []string{"cipher.", "aes.", "gcm.", "des.", "rc4.", "chacha20", "salsa20", "xts.", "secretbox.", "box.", "age.", "openpgp."}

// certificates are the calls that parse them: a client made for each request does so for all that the system trusts.
var certificates = []string{"x509.(*CertPool).AppendCertsFromPEM", "x509.ParseCertificate", "x509.SystemCertPool", "tls.LoadX509KeyPair",
	"tls.X509KeyPair"}

// Handshakes finds servers that spend their CPU on TLS handshakes.
//
// Each full handshake costs a private-key operation (RSA-2048 about ten times as
// much as ECDSA P-256), a kept connection only symmetric encryption. So the share
// counts handshakes alone. The finding names no place: settings of the server, its
// clients or a proxy decide when connections are closed.
var Handshakes = domain{
	name: "tls-handshakes", roles: callstack.Handshake, least: leastHandshake, worth: from(avoidable),
	doc:   "Counts CPU samples inside TLS handshakes, at 12 % or more of the service's CPU.",
	title: fixed("Making TLS handshakes"), instead: ofClients,
	cause: diagnose.Cause{
		ID: "cpu-tls", Title: "TLS handshakes use too much CPU",
		Doc: "Connections are opened so often that their handshakes, with a signature each, take a large part of the CPU.",
		Knows: "CPU samples below the handshake of crypto/tls, at 12 % or more of the service's CPU. Encryption on kept " +
			"connections does not count. Handshakes of the service's own HTTP client or database driver are " +
			"http-client-churn and db-pool-churn. The finding names no place in the service's code (the server or its " +
			"clients close the connections), unless the service itself opens them, such as to a mail server.",
		Remedy: "Keep connections open (idle timeouts on both sides, no Connection: close), allow session resumption, use ECDSA " +
			"certificates.",
		Example: diagnose.Example{Lang: "go",
			Before: "srv.SetKeepAlivesEnabled(false)",
			After:  "srv.IdleTimeout = 2 * time.Minute // longer than that of the proxies before it"},
		Verify: "redline run: connections opened per request fall, and cpu_per_request with them.",
		Cases:  []string{"rate-quotes-tls", "tls-vault"},
	},
	remedy: fixed("Keep connections open: enable keep-alives, give the server a longer idle timeout than its " +
		"clients and proxies, keep session tickets on; an ECDSA certificate signs ten times faster than RSA."),
}.analyzer()

// ofClients words a finding of handshakes that the service begins, at its own code: it opens the connections.
func ofClients(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, t taken) {
	begun := use.Part(func(b usage.Booked) bool {
		return b.Domain.Has(callstack.Handshake) && slices.ContainsFunc(b.Stack, func(f code.Frame) bool {
			return strings.HasSuffix(f.Function, ".clientHandshake")
		})
	})
	if !t.hot.User || 2*begun <= t.direct {
		return
	}
	f.Remedy = fmt.Sprintf("Keep the connection that is opened at %s and reuse it for later requests, or let its session be resumed "+
		"(tls.Config.ClientSessionCache): each full handshake verifies the other end's certificates.", diagnose.At(t.hot.Place))
}

// Compress finds services that spend their CPU on compression.
//
// Making a compressor is not compressing: gzip.NewWriter allocates and clears some
// 750 KB, and a lower level does not help there. Those samples belong to alloc-hot,
// whose remedy is a pool.
var Compress = domain{
	name: "compress", roles: callstack.Compress, least: leastCompress, worth: from(purposeful),
	doc:   "Counts CPU samples inside compressors and decompressors, at 15 % or more of the service's CPU.",
	title: fixed("Compression"),
	cause: diagnose.Cause{
		ID: "cpu-compress", Title: "Compression uses too much CPU",
		Doc: "A large part of the CPU is spent compressing or decompressing bodies or stored data.",
		Knows: "CPU samples inside compressors and decompressors, whoever calls them (an encoder, a middleware), at 15 % or " +
			"more of the service's CPU; a defect if removing it would gain 1.55x. Making a new writer for each body is part of " +
			"it, and of alloc-hot.",
		Remedy: "Compressing: use a lower level, leave small bodies uncompressed, reuse writers, cache compressed responses. " +
			"Decompressing: cache the result, reuse readers, stop reading once you have what you need.",
		Example: diagnose.Example{Lang: "go",
			Before: "z, _ := gzip.NewWriterLevel(w, gzip.BestCompression)",
			After:  "z := writers.Get().(*gzip.Writer) // sync.Pool of gzip.BestSpeed\nz.Reset(w)"},
		Verify: verify, Cases: []string{"map-tiles", "claims-archive", "letter-press"},
	},
	remedy: func(h usage.Hot) string {
		return fmt.Sprintf("At %s, use a lower level, skip bodies smaller than a kilobyte or two, reuse writers "+
			"(Reset), or cache the compressed response.", diagnose.At(h.Place))
	},
	instead: unpacks,
}.analyzer()

// unpacks words a finding of what mostly decompresses.
func unpacks(p *diagnose.Pass, use *usage.Table, f *diagnose.Finding, t taken) {
	all, out := int64(0), int64(0)
	for b := range use.All {
		within := func(f code.Frame) bool { return f.Function == t.hot.Place.Function }
		if !b.Domain.Has(callstack.Compress) || !slices.ContainsFunc(b.Stack, within) {
			continue
		}
		all += b.Value
		if slices.ContainsFunc(b.Stack, func(f code.Frame) bool {
			return callstack.Unpacks(f.Function) && p.Stacks.Role(f.Function).Has(callstack.Compress)
		}) {
			out += b.Value
		}
	}
	if 2*out <= all {
		return
	}
	f.Title = strings.Replace(f.Title, "Compression", "Decompression", 1)
	f.Remedy = fmt.Sprintf("If %s decompresses the same data repeatedly, cache the result. If not, reuse the readers (Reset) and stop "+
		"reading once you have what you need.", diagnose.At(t.hot.Place))
}

// Sort finds services that sort in each request.
//
// The comparison function is the user's, but it runs for the sort: its samples
// count here, and the place is the line that sorts. Otherwise every less() would be
// a hot function whose remedy is to optimise a comparison.
var Sort = domain{
	name: "sort", roles: callstack.Sort, least: leastSort, worth: from(avoidable), copies: true, instead: keyOnce,
	doc:   "Counts CPU samples inside sorting functions, comparisons included, at 15 % or more of the service's CPU.",
	title: fixed("Sorting"),
	cause: diagnose.Cause{
		ID: "cpu-sort", Title: "Sorting uses too much CPU",
		Doc: "Each request sorts the same data, often to show only its first few elements.",
		Knows: "CPU samples below sort.Sort, sort.Slice, slices.SortFunc and the like, the user's comparison " +
			"included, at 15 % or more of the service's CPU. Where: the user's line that sorts, not the comparison; the comparison " +
			"is named if most of the sorting goes into making the values it compares (matching, formatting, decoding).",
		Remedy: "Keep the data sorted as it changes, keep an index, or select the first n with a heap.",
		Example: diagnose.Example{Lang: "go",
			Before: "sort.Slice(scores, byPoints) // per request\nreturn scores[:10]",
			After:  "return b.top[:10] // kept in order when a score changes: slices.BinarySearchFunc, slices.Insert"},
		Verify: verify, Cases: []string{"chess-ladder", "seat-allocator", "crew-roster"},
	},
	remedy: func(h usage.Hot) string {
		return fmt.Sprintf("Keep the data of %s in order as it changes (binary search and insert), or pick "+
			"the first n with a heap, instead of sorting it in every request.", diagnose.At(h.Place))
	},
}.analyzer()

// Reflect finds services that spend their CPU on reflection.
//
// JSON, formatting, loggers and database mappers reflect too; the outermost library
// decides, so only reflection that the user calls, directly or through a package
// built on it, counts here.
var Reflect = domain{
	name: "reflect", roles: callstack.Reflect, handed: true, least: leastReflect, worth: from(avoidable), instead: decodeLess, keeps: true,
	doc: "Counts CPU samples inside reflection and the encoders, binders and validators built on it, at 15 % or more of the " +
		"service's CPU.",
	title: func(h usage.Hot) string { return "Reflection (" + callee(h, "reflect") + ")" },
	cause: diagnose.Cause{
		ID: "cpu-reflect", Title: "Reflection uses too much CPU",
		Doc: "Values are copied, compared, validated or encoded through reflection, field by field and tag by tag.",
		Knows: "CPU samples whose outermost library below the user's function is reflect, or a package built on it (YAML, " +
			"XML, gob, mapstructure, copier, validator, reflect.DeepEqual), at 15 % or more of the service's CPU. Reflection " +
			"inside JSON, formatting, logging or the database client counts as those.",
		Remedy: "Use generated or hand-written code for the hot types; look tags up once per type and cache them.",
		Example: diagnose.Example{Lang: "go",
			Before: "copier.Copy(&view, row)",
			After:  "view = View{Name: row.Name, City: row.City}"},
		Verify: verify, Cases: []string{"form-binding"},
	},
	remedy: func(h usage.Hot) string {
		// libopenapi renders a schema by reflection for each parameter that is validated.
		if h.Via != "" {
			return fmt.Sprintf("%s uses reflection on each call from %s: cache the call's result for the same input, call it "+
				"less often, or use a version of it that caches its result.", callstack.Short(h.Via), diagnose.At(h.Place))
		}
		return fmt.Sprintf("At %s, assign the fields with generated or hand-written code instead of %s, or "+
			"compute everything that depends only on the type once and cache it.", diagnose.At(h.Place), callee(h, "reflect"))
	},
}.analyzer()

// Clock finds services that read the clock or a random source too often.
//
// One read of the clock through the vDSO takes about 50 ns, one small read of the
// random source a few hundred, so it takes thousands per request to reach a share.
// They are one cause, because in both a value is read for each element where once
// would do. Reads by net/http, the runtime and database/sql for their deadlines are
// not the user's to change.
var Clock = domain{
	name: "clock", roles: callstack.Clock, least: leastClock, worth: from(avoidable),
	doc: "Counts CPU samples that the service's functions spend reading the clock or a random source, at 12 % or more of the " +
		"service's CPU.",
	title: func(h usage.Hot) string {
		return "Reading the clock or a random source (" + callee(h, "time.Now") + ")"
	},
	cause: diagnose.Cause{
		ID: "cpu-clock", Title: "Reading the clock or a random source uses too much CPU",
		Doc: "Each request reads the time, or draws random bytes, thousands of times: for each element of a loop, or a few " +
			"bytes at a time.",
		Knows: "CPU samples below time.Now and the like, math/rand, crypto/rand and UUID generators that the user's " +
			"functions call, at 12 % or more of the service's CPU. Reads by the server and the runtime do not count. " +
			"Both are one cause because they look alike and have the same remedy: read once.",
		Remedy: "Read the clock once per request and pass it on; draw random bytes in blocks; math/rand/v2 for anything that " +
			"is not a secret.",
		Example: diagnose.Example{Lang: "go",
			Before: "for _, s := range sessions {\n\tif time.Since(s.seen) > limit { n++ }\n}",
			After:  "now := time.Now()\nfor _, s := range sessions {\n\tif now.Sub(s.seen) > limit { n++ }\n}"},
		Verify: verify, Cases: []string{"ride-heartbeat", "raffle-tickets"},
	},
	remedy: func(h usage.Hot) string {
		// A seed fills a table of 607 words (math/rand), so that a source of its own for each ULID takes 10 us.
		if callsAny(h, "rand.New", "rand.Seed") {
			return fmt.Sprintf("At %s, make and seed the source once and keep it (one per goroutine or in a sync.Pool), or use "+
				"the functions of math/rand/v2, which need no source, instead of calling %s for each value.",
				diagnose.At(h.Place), h.Callee)
		}
		if callsAny(h, numbers...) {
			return fmt.Sprintf("At %s, draw fewer numbers, or from a source that one goroutine owns (rand.New(rand.NewPCG(...)) of "+
				"math/rand/v2), instead of calling %s for each.", diagnose.At(h.Place), h.Callee)
		}
		return fmt.Sprintf("At %s, read it once and pass the value on (random bytes: fill a block and cut "+
			"pieces from it) instead of calling %s for each element.", diagnose.At(h.Place), callee(h, "it"))
	},
}.analyzer()

// trees are routers that find routes in a tree.
var trees = []string{"http.(*ServeMux)", "http.(*routingNode)", "chi.", "httprouter.", "gin.", "echo.", "router.", "radix."}

// numbers are the calls of math/rand that draw one, which crypto/rand does not have.
var numbers = []string{"rand.Intn", "rand.IntN", "rand.Int3", "rand.Int6", "rand.Uint", "rand.N", "rand.Float", "rand.ExpFloat",
	"rand.Perm", "rand.Shuffle", "rand.(*Rand)"}

// Router finds services that spend their CPU on finding the handler.
//
// gorilla/mux and its like try routes in order, each with an expression: cost grows
// with the number of routes (tenant-gateway has 400), whereas a tree's grows with
// the path's length. A long chain of middleware looks similar on a stack but is not
// matching.
var Router = domain{
	name: "router", roles: callstack.Router, least: leastRouter, worth: from(avoidable),
	doc:   "Counts CPU samples inside the matching of routes, at 15 % or more of the service's CPU.",
	title: func(h usage.Hot) string { return "Matching routes (" + callee(h, "router") + ")" },
	cause: diagnose.Cause{
		ID: "cpu-router", Title: "Routing uses too much CPU",
		Doc: "Each request tries routes one after another, often with a regular expression each, before the handler runs.",
		Knows: "CPU samples inside the matching functions of routers, expressions that they match included (those that they " +
			"compile for a request are cpu-regexp-compile), at 15 % or more of the service's CPU. The finding names the router's " +
			"function, not a place in the service's code. A long chain of middleware is not this cause: each layer counts as " +
			"the work it does.",
		Remedy: "Use a router with a tree, put the hottest routes first, group routes in sub-routers by prefix, use expressions " +
			"only if needed.",
		Example: diagnose.Example{Lang: "go",
			Before: "r.HandleFunc(\"/t/\"+tenant+\"/plans/{id:[0-9]+}\", show) // for each of 400 tenants",
			After:  "mux.HandleFunc(\"GET /t/{tenant}/plans/{id}\", show) // one route, the tenant is looked up"},
		Verify: verify, Cases: []string{"tenant-gateway"},
	},
	remedy: func(h usage.Hot) string {
		if callsAny(h, trees...) {
			return h.Callee + " finds routes in a tree already: merge routes that differ in one element into one with a parameter, " +
				"use fewer expressions and wildcards, and answer the hottest fixed paths before the router (a switch or a map)."
		}
		return "Use a router that finds routes in a tree (net/http's ServeMux since Go 1.22, chi, " +
			"httprouter), merge routes that differ in one element into one with a parameter, and group the rest " +
			"below sub-routers by prefix."
	},
}.analyzer()
