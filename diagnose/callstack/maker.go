package callstack

import (
	"path"
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Reuse is how to avoid allocating a library's value each time.
type Reuse int

// Ways to reuse a value.
const (
	Unknown Reuse = iota // the library's documentation says
	Pooled               // Reset and a sync.Pool
	Shared               // made once, used by all goroutines
	Sized                // a buffer that grows; its capacity can be given
)

// Made is a value that a library allocates for its caller. The zero value means none.
type Made struct {
	Type  string // "gzip.Writer"
	Maker string // the constructor, "gzip.NewWriter"
	Reuse Reuse
	// At is the stack index of the constructor's frame, or of the method that initialises
	// the value on first use.
	At int
	// Lazy is set in the second case: the constructor was called elsewhere.
	Lazy bool
}

// lazy are types that allocate most of themselves in their first method call, each with its constructor and those methods, as
// prefixes: that is the documented reason for their Reset methods. zstd's EncodeAll and DecodeAll, which may run concurrently, and
// the execution of a template allocate what they return, not their receiver.
var lazy = []struct {
	pkg, methods string
	made         Made
}{
	{"compress/gzip", "(*Writer)", Made{Type: "gzip.Writer", Maker: "gzip.NewWriter", Reuse: Pooled}},
	{"compress/zlib", "(*Writer)", Made{Type: "zlib.Writer", Maker: "zlib.NewWriter", Reuse: Pooled}},
	{"github.com/klauspost/compress/gzip", "(*Writer)", Made{Type: "gzip.Writer", Maker: "gzip.NewWriter", Reuse: Pooled}},
	{"github.com/klauspost/compress/zlib", "(*Writer)", Made{Type: "zlib.Writer", Maker: "zlib.NewWriter", Reuse: Pooled}},
	{"github.com/klauspost/pgzip", "(*Writer)", Made{Type: "pgzip.Writer", Maker: "pgzip.NewWriter", Reuse: Pooled}},
	{"github.com/klauspost/compress/zstd", zstdEncoder, Made{Type: "zstd.Encoder", Maker: "zstd.NewWriter", Reuse: Pooled}},
	{"github.com/klauspost/compress/zstd", zstdDecoder, Made{Type: "zstd.Decoder", Maker: "zstd.NewReader", Reuse: Pooled}},
	{"github.com/andybalholm/brotli", "(*Writer)", Made{Type: "brotli.Writer", Maker: "brotli.NewWriter", Reuse: Pooled}},
	{"github.com/andybalholm/brotli", "(*Reader)", Made{Type: "brotli.Reader", Maker: "brotli.NewReader", Reuse: Pooled}},
	{"github.com/pierrec/lz4/v4", "(*Writer)", Made{Type: "lz4.Writer", Maker: "lz4.NewWriter", Reuse: Pooled}},
	{"text/template", templateMethods, Made{Type: "template.Template", Maker: "template.New", Reuse: Shared}},
	{"html/template", templateMethods, Made{Type: "template.Template", Maker: "template.New", Reuse: Shared}},
}

const (
	zstdEncoder = "(*Encoder).Write (*Encoder).ReadFrom (*Encoder).Reset (*Encoder).Flush (*Encoder).Close (*Encoder).nextBlock " +
		"(*Encoder).initialize"
	zstdDecoder     = "(*Decoder).Read (*Decoder).WriteTo (*Decoder).Reset (*Decoder).nextBlock (*Decoder).startStreamDecoder"
	templateMethods = "(*Template).Parse (*Template).AddParseTree (*Template).Clone (*Template).New (*Template).escape " +
		"(*Template).lookupAndEscape"
)

// makers are constructors whose names do not say what they make, and values whose
// way of reuse is known.
var makers = []struct {
	pkg, names string
	made       Made
}{
	{"regexp", "Compile MustCompile CompilePOSIX MustCompilePOSIX MatchString Match", Made{Type: "regexp.Regexp", Reuse: Shared}},
	{"github.com/grafana/regexp", "Compile MustCompile", Made{Type: "regexp.Regexp", Reuse: Shared}},
	{"github.com/dlclark/regexp2", "Compile MustCompile", Made{Type: "regexp2.Regexp", Reuse: Shared}},
	{"text/template", "New Must ParseFiles ParseFS ParseGlob", Made{Type: "template.Template", Reuse: Shared}},
	{"html/template", "New Must ParseFiles ParseFS ParseGlob", Made{Type: "template.Template", Reuse: Shared}},
	{"github.com/klauspost/compress/zstd", "NewWriter", Made{Type: "zstd.Encoder", Reuse: Pooled}},
	{"github.com/klauspost/compress/zstd", "NewReader", Made{Type: "zstd.Decoder", Reuse: Pooled}},
	{"math/rand", "NewSource New", Made{Type: "rand.Source", Reuse: Pooled}},
	{"crypto/x509", "SystemCertPool NewCertPool", Made{Type: "x509.CertPool", Reuse: Shared}},
	{"crypto/tls", "LoadX509KeyPair X509KeyPair", Made{Type: "tls.Certificate", Reuse: Shared}},
	{"time", "LoadLocation", Made{Type: "time.Location", Reuse: Shared}},
	{"github.com/go-playground/validator/v10", "New", Made{Type: "validator.Validate", Reuse: Shared}},
	{"github.com/microcosm-cc/bluemonday", "UGCPolicy StrictPolicy NewPolicy", Made{Type: "bluemonday.Policy", Reuse: Shared}},
	{"github.com/yuin/goldmark", "New", Made{Type: "goldmark.Markdown", Reuse: Shared}},
	{"compress/flate", "NewWriter NewWriterDict", Made{Type: "flate.Writer", Reuse: Pooled}},
	{"compress/flate", "NewReader NewReaderDict", Made{Type: "flate.Reader", Reuse: Pooled}},
	{"compress/gzip", "NewWriter NewWriterLevel", Made{Type: "gzip.Writer", Reuse: Pooled}},
	{"compress/gzip", "NewReader", Made{Type: "gzip.Reader", Reuse: Pooled}},
	{"compress/zlib", "NewWriter NewWriterLevel NewWriterLevelDict", Made{Type: "zlib.Writer", Reuse: Pooled}},
	{"compress/zlib", "NewReader NewReaderDict", Made{Type: "zlib.Reader", Reuse: Pooled}},
	{"bufio", "NewReader NewReaderSize", Made{Type: "bufio.Reader", Reuse: Pooled}},
	{"bufio", "NewWriter NewWriterSize", Made{Type: "bufio.Writer", Reuse: Pooled}},
}

// passing are packages whose New functions wrap what they are given, or make
// something for one use: no pool would help.
var passing = map[string]bool{"errors": true, "context": true, "strings": true, "bytes": true, "time": true,
	"net/http": true, "net/url": true,
	"github.com/pkg/errors": true, "log/slog": true, "reflect": true, "io": true, "net/http/httptest": true}

// Makes returns the value that the code below the user's frame with index user allocates:
// that of the outermost constructor, or of the outermost method that initialises lazily. ok
// is false if there is neither.
func Makes(stack []code.Frame, user int) (m Made, ok bool) {
	for i := min(user, len(stack)) - 1; i >= 0; i-- {
		pkg, name := Split(stack[i].Function)
		for _, l := range lazy {
			if l.pkg == pkg && begins(name, l.methods) && insides(stack[:i], pkg) {
				m = l.made
				m.At, m.Lazy = i, true
				return m, true
			}
		}
		for _, c := range makers {
			if c.pkg == pkg && oneOf(name, c.names) {
				m = c.made
				m.Maker, m.At = path.Base(pkg)+"."+name, i
				return m, true
			}
		}
		if noun, ok := constructor(name); ok && !passing[pkg] && pkg != "runtime" {
			short := strings.TrimSuffix(Short(stack[i].Function), "."+name)
			return Made{Type: short + "." + noun, Maker: short + "." + name, At: i}, true
		}
	}
	return Made{}, false
}

// insides reports whether the innermost frame belongs to the library of a method,
// or to a sibling folder: what the writer below a compressor allocates is not the
// compressor's.
func insides(below []code.Frame, pkg string) bool {
	if len(below) == 0 {
		return true
	}
	leaf, _ := Split(below[0].Function)
	return leaf == pkg || path.Dir(leaf) == path.Dir(pkg) || strings.HasPrefix(leaf, pkg+"/")
}

// sizes are suffixes of constructors that take options.
var sizes = []string{"Dict", "Level", "Size", "Seed", "WithOptions", "WithConfig", "WithContext", "Default"}

// constructor returns the noun of an exported constructor's name: "Writer" of
// NewWriterLevel. New alone does not say what it makes.
func constructor(name string) (noun string, ok bool) {
	noun, ok = strings.CutPrefix(name, "New")
	if !ok || noun == "" || noun[0] < 'A' || noun[0] > 'Z' || strings.Contains(noun, ".") {
		return "", false
	}
	for _, suffix := range sizes {
		if short := strings.TrimSuffix(noun, suffix); short != "" {
			noun = short
		}
	}
	return noun, true
}

// begins reports whether a name begins with one of the prefixes.
func begins(name, prefixes string) bool {
	for prefix := range strings.FieldsSeq(prefixes) {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func oneOf(name, names string) bool {
	for _, n := range strings.Fields(names) {
		if n == name {
			return true
		}
	}
	return false
}
