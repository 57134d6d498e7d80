package gobench

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt" // the format that go test -bench prints and benchstat reads
)

// Bounds on the kept part of a launch's output. A benchmark may print anything.
const (
	mostLine  = 16 << 10
	mostLines = 4096
	mostTail  = 64 << 10
)

// printed is the parsed output of a launch.
type printed struct {
	results []*benchfmt.Result
	units   benchfmt.UnitMetadataMap
	failed  []string          // benchmarks, without "Benchmark" and without GOMAXPROCS
	message map[string]string // why one failed, by its name; only a launch with -test.v reports it
	skipped map[string]string // why one was skipped, likewise
	reason  string            // why the launch failed; empty when it did not
}

// filter keeps the lines of an output that are about benchmarks, in bounded memory:
// a benchmark may log for every iteration.
type filter struct {
	kept    bytes.Buffer
	lines   int
	partial []byte
	message []byte // the last message of the benchmark in progress; nil without -test.v
	tail    tail
}

// telling are the beginnings of lines that are kept.
var telling = [][]byte{[]byte("Benchmark"), []byte("Unit "), []byte("--- FAIL: "), []byte("--- SKIP: "),
	[]byte("goos: "), []byte("goarch: "), []byte("pkg: "), []byte("cpu: ")}

// Write never fails, and keeps what is left of a line until it ends.
func (f *filter) Write(p []byte) (int, error) {
	n := len(p)
	_, _ = f.tail.Write(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		line := p
		if end >= 0 {
			line = p[:end]
		}
		// A longer line is cut, and as a result line then fails to parse: better
		// than an unbounded one.
		f.partial = append(f.partial, line[:min(len(line), mostLine-len(f.partial))]...)
		if end < 0 {
			break
		}
		f.line()
		p = p[end+1:]
	}
	return n, nil
}

// line takes the line that has ended. A nested failure is indented. With -test.v, where a
// benchmark's name stands alone before what it logs, its end comes last: the last message
// before that is the reason, and is put behind it.
func (f *filter) line() {
	line := f.partial
	f.partial = f.partial[:0]
	trimmed := bytes.TrimLeft(line, " ")
	switch {
	case bytes.HasPrefix(trimmed, []byte("--- FAIL: ")) || bytes.HasPrefix(trimmed, []byte("--- SKIP: ")):
		line = append(slices.Clone(trimmed), f.message...)
		f.message = nil
	case bare.Match(line):
		f.message = []byte{}
	case f.message != nil && len(line)-len(trimmed) == 4: // deeper are a message's further lines
		f.message = append(f.message[:0], line[3:]...)
	}
	if f.lines < mostLines && slices.ContainsFunc(telling, func(t []byte) bool { return bytes.HasPrefix(line, t) }) {
		f.lines++
		f.kept.Write(line)
		f.kept.WriteByte('\n')
	}
}

// reported is the end of the output, kept for when the launch fails.
func (f *filter) reported() string { return f.tail.text() }

var (
	failure = regexp.MustCompile(`^--- FAIL: Benchmark(\S+)(.*)`)
	// skipping is a benchmark's end by Skip, with the place and the reason that it logged.
	skipping = regexp.MustCompile(`^--- SKIP: Benchmark(\S+)(?: \S+\.go:\d+:)?(.*)`)
	bare     = regexp.MustCompile(`^Benchmark\S+$`)
)

// read parses the output. Result lines that do not continue as they begin, because
// the benchmark printed in their middle, are dropped.
func (f *filter) read() printed {
	if len(f.partial) > 0 {
		f.line()
	}
	out := printed{message: map[string]string{}, skipped: map[string]string{}}
	for line := range bytes.Lines(f.kept.Bytes()) {
		if m := failure.FindSubmatch(line); m != nil {
			out.failed = append(out.failed, string(m[1]))
			if len(m[2]) > 0 {
				out.message[string(m[1])] = excerpt(string(line))
			}
		}
		if m := skipping.FindSubmatch(line); m != nil {
			out.skipped[string(m[1])] = excerpt(string(m[2]))
		}
	}
	reader := benchfmt.NewReader(&f.kept, "output")
	for reader.Scan() {
		if r, ok := reader.Result().(*benchfmt.Result); ok && r.Iters > 0 && sound(r) {
			out.results = append(out.results, r.Clone())
		}
	}
	out.units = reader.Units()
	return out
}

// sound drops values that are not finite, and repeated units, of which the first
// counts; it reports whether a value is left.
func sound(r *benchfmt.Result) bool {
	seen := map[string]bool{}
	r.Values = slices.DeleteFunc(r.Values, func(v benchfmt.Value) bool {
		bad := math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || seen[v.Unit]
		seen[v.Unit] = true
		return bad
	})
	return len(r.Values) > 0
}

// procs splits a printed name: "Encode/big-8" is "Encode/big" measured with 8
// processors. ok is false if it is another benchmark's. A name that itself ends in
// -8 is why the wanted name is needed.
func procs(printed, name string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(printed, name)
	if !ok {
		return 0, false
	}
	if rest == "" {
		return 1, true
	}
	if len(rest) < 2 || len(rest) > 6 || rest[0] != '-' {
		return 0, false
	}
	for _, c := range rest[1:] {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, n > 0
}

// tail keeps the end of its input.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	// A single write may be longer than all that is kept.
	p = p[max(0, len(p)-mostTail):]
	t.kept = append(t.kept[max(0, len(t.kept)+len(p)-mostTail):], p...)
	return n, nil
}

func (t *tail) text() string { return strings.ToValidUTF8(string(t.kept), "?") }
