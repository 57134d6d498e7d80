package memory_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/memory"
	"github.com/redline-go/redline/record/findings"
)

const (
	writeJSON = "shop/web.writeJSON@web.go:20"
	list      = "shop/orders.(*API).list@api.go:55"
	show      = "shop/orders.(*API).show@api.go:80"
	zip       = "shop/web.compress.func1@compress.go:31"
)

// says runs the analyzer and returns the text of its one finding.
func says(t *testing.T, b *Builder, want string) (f findings.Finding) {
	t.Helper()
	if found := Expect(t, memory.Allocation, b, want); len(found) == 1 {
		return found[0]
	}
	return f
}

// holds fails unless a text contains all of the words.
func holds(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q lacks %q", text, word)
		}
	}
}

// TestObject: the allocation is reported as the object, at the place where it is made, and
// not as the function that first writes into it.
func TestObject(t *testing.T) {
	n := int64(Healthy().Requests())
	// gzip.NewWriter makes little; the first Write, wherever it comes from, most.
	f := says(t, collecting(4*s).
		Alloc(n, 800<<10*n, "compress/flate.NewWriter", "compress/gzip.(*Writer).Write",
			"shop/web.zipped.Write@compress.go:12", "encoding/json.(*Encoder).Encode", writeJSON, list, zip).
		Alloc(n, 160*n, "compress/gzip.NewWriterLevel", "compress/gzip.NewWriter", zip), "alloc-hot at compress.go:31")
	holds(t, f.Title, "compress.go:31 makes a gzip.Writer per request (800 KiB); allocation and garbage collection take ")
	holds(t, f.Remedy, "sync.Pool", "Reset")
	holds(t, f.Where.Function, "web.compress")

	f = says(t, collecting(4*s).
		Alloc(400*n, 40<<10*n, "regexp/syntax.(*compiler).inst", "regexp/syntax.Compile", "regexp.compile", "regexp.MustCompile", list).
		Alloc(n, 200*n, "regexp.compile", "regexp.MustCompile", list), "alloc-hot at api.go:55")
	holds(t, f.Title, "api.go:55 makes a regexp.Regexp per request")
	holds(t, f.Remedy, "once")

	f = says(t, collecting(4*s).Alloc(3*n, 300<<10*n, "bufio.NewReaderSize", list), "alloc-hot at api.go:55")
	holds(t, f.Title, "api.go:55 makes 3 bufio.Readers per request (300 KiB in all)")

	// The caller of a library that makes its own writers has no pool to put them in.
	pdf := []string{"compress/zlib.NewWriterLevel", "github.com/docs/pdf.(*Dict).write", "github.com/docs/pdf.(*Doc).WriteTo", list}
	first := append([]string{"compress/flate.NewWriter", "compress/zlib.(*Writer).Write"}, pdf[1:]...)
	f = says(t, collecting(4*s).Alloc(n, 160*n, pdf...).Alloc(n, 800<<10*n, first...), "alloc-hot at api.go:55")
	holds(t, f.Title, "api.go:55 makes a zlib.Writer per request")
	holds(t, f.Remedy, "pdf.(*Dict).write makes its own zlib.Writers on each call from api.go:55")

	// Some of a kind are made at other places too, and their number is that of all.
	const other = "shop/web.other@other.go:9"
	f = says(t, collecting(4*s).Alloc(n, 200<<10*n, "bufio.NewReaderSize", list).Alloc(2*n, 100<<10*n, "bufio.NewReaderSize", other),
		"alloc-hot at api.go:55")
	holds(t, f.Title, "3 bufio.Readers per request (300 KiB in all)")
	// Where their number is not known, they do not read as one.
	f = says(t, collecting(4*s).Alloc(7272*n, 45_000<<10*n, "compress/flate.(*dictDecoder).init", "compress/flate.NewReader",
		"compress/zlib.(*reader).Reset", "compress/zlib.NewReaderDict", "compress/zlib.NewReader", list), "alloc-hot at api.go:55")
	holds(t, f.Title, "zlib.NewReader at api.go:55 allocates 43.9 MiB per request; allocation and garbage collection take ")

	// A pooled writer passes bytes on; their cost below it is not its own.
	f = says(t, collecting(4*s).Alloc(n, 90<<10*n, "bytes.growSlice", "bytes.(*Buffer).Write",
		"compress/gzip.(*Writer).Write", list), "alloc-hot at api.go:55")
	if strings.Contains(f.Title, "gzip") {
		t.Errorf("a buffer's growth is told as a compressor: %s", f.Title)
	}
	// pooled
	Expect(t, memory.Allocation, Healthy().Alloc(n/1000, 800<<10*n/1000, "compress/flate.NewWriter", "compress/gzip.(*Writer).Write", zip))
}

// TestWhatAnObjectReturns: the bytes that a shared encoder returns, and those of a template's execution, are not the encoder and the
// template, which are made once already. An encoder that initialises itself in the call is.
func TestWhatAnObjectReturns(t *testing.T) {
	const zstd = "github.com/klauspost/compress/zstd."
	n := int64(Healthy().Requests())
	all := []string{zstd + "(*Encoder).EncodeAll", list}
	for _, stack := range [][]string{append([]string{zstd + "(*Encoder).encodeAll"}, all...), {zstd + "(*Decoder).DecodeAll", list},
		{"text/template.(*state).evalCall", "text/template.(*Template).execute", "html/template.(*Template).Execute", list}} {
		f := says(t, collecting(4*s).Alloc(n, 400<<10*n, stack...), "alloc-hot at api.go:55")
		if strings.Contains(f.Title+f.Remedy, ".New") || strings.Contains(f.Remedy, "sync.Pool and") {
			t.Errorf("%s: %s; %s", stack[0], f.Title, f.Remedy)
		}
	}
	f := says(t, collecting(4*s).Alloc(n, 400<<10*n, append([]string{zstd + "(*Encoder).initialize", "sync.(*Once).doSlow"}, all...)...),
		"alloc-hot at api.go:55")
	holds(t, f.Remedy, "zstd.NewWriter")
}

// TestAllocationBelowHelper: a helper with several callers, one of which causes the
// allocation, is not the place.
func TestAllocationBelowHelper(t *testing.T) {
	n := int64(Healthy().Requests())
	encode := []string{"bytes.growSlice", "bytes.(*Buffer).Write", "encoding/json.(*encodeState).marshal",
		"encoding/json.Marshal", writeJSON}
	with := func(caller string) []string { return append(append([]string{}, encode...), caller) }
	f := says(t, collecting(4*s).Alloc(n, 200<<10*n, with(list)...).Alloc(n, 2<<10*n, with(show)...), "alloc-hot at api.go:55")
	holds(t, f.Title, "api.go:55", "web.writeJSON")
	holds(t, f.Where.Function, "(*API).list")
	// All callers cause it equally, or there is only one: the helper is the place.
	says(t, collecting(4*s).Alloc(n, 100<<10*n, with(list)...).Alloc(n, 100<<10*n, with(show)...), "alloc-hot at web.go:20")
	says(t, collecting(4*s).Alloc(n, 100<<10*n, with(list)...), "alloc-hot at web.go:20")
	// An object that the helper itself makes is its own.
	says(t, collecting(4*s).Alloc(n, 200<<10*n, writeJSON, list).Alloc(n, 2<<10*n, writeJSON, show), "alloc-hot at web.go:20")
}

// What a library allocates over several lines of the service's is named at the line that calls it, and
// not at another line that allocates more at once; what it compiles there is named, as deep as it goes.
func TestAllocationBelowCallsOfALibrary(t *testing.T) {
	n := int64(Healthy().Requests())
	const query, parse = "github.com/antchfx/htmlquery.", "shop/web.extract@web.go:15"
	find := func(b *Builder, kib int64, line string, inner ...string) *Builder {
		return b.Alloc(90*n, kib<<10*n, append(inner, query+"Query", query+"FindOne", "shop/web.extract@web.go:"+line)...)
	}
	uses := func(compile int64) *Builder {
		b := collecting(4*s).Alloc(90*n, 40<<10*n, "golang.org/x/net/html.(*parser).addElement", query+"Parse", parse)
		for i, line := range []string{"23", "26", "29"} {
			find(b, compile+int64(i), line, "github.com/antchfx/xpath.(*parser).parseStep", "github.com/antchfx/xpath.build",
				"github.com/antchfx/xpath.Compile")
			find(b, 12, line, query+"QuerySelector")
		}
		return b
	}
	f := says(t, uses(18), "alloc-hot at web.go:29")
	holds(t, f.Title, "web.go:29", "xpath.Compile")
	holds(t, f.Remedy, "htmlquery.FindOne calls xpath.Compile", "cache its result")
	if f = says(t, uses(6), "alloc-hot at web.go:29"); strings.Contains(f.Title, "Compile") {
		t.Errorf("a third of the call is no compiling: %s", f.Title)
	}
}
