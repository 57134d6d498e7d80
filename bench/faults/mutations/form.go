package mutations

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
)

// hostile is a name that a terminal, a CI system, Markdown and a browser would all
// act on. mark finds it in the output.
const (
	mark    = "owned"
	hostile = "x\x1b]0;" + mark + "\x07\x1b[2J\r\n::error::" + mark + "\n##vso[task.x]" + mark +
		"\n</script><script>" + mark + "()</script>\u009b31m\u202e\u2028|`" + mark
)

// form damages data according to its format.
func (m *mutator) form(name string, data []byte) ([]byte, string) {
	switch ext := filepath.Ext(name); {
	case ext == ".json":
		return m.json(data)
	case ext == ".jsonl":
		lines := bytes.SplitAfter(data, []byte("\n"))
		at := m.IntN(len(lines))
		changed, what := m.json(lines[at])
		lines[at] = append(bytes.ReplaceAll(changed, []byte("\n"), nil), '\n')
		if m.IntN(4) == 0 {
			return bytes.Repeat(lines[at], 1+m.most(min(1<<20, 60<<20/len(lines[at])))), what + " and again and again"
		}
		return bytes.Join(lines, nil), what
	case ext == ".pprof":
		return m.profile(data)
	case ext == ".trace":
		return m.trace(data)
	case ext == ".hlog":
		return m.numbers(data)
	case strings.HasPrefix(name, "windows."):
		return m.windows(name, data)
	}
	return m.bytes(data)
}

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// numbers replaces one of the numbers of text.
func (m *mutator) numbers(data []byte) ([]byte, string) {
	all := number.FindAllIndex(data, -1)
	if len(all) == 0 {
		return m.bytes(data)
	}
	at := all[m.IntN(len(all))]
	with := m.figure()
	return slices.Replace(data, at[0], at[1], []byte(with)...), fmt.Sprintf("with %s at %d", with, at[0])
}

func (m *mutator) figure() string {
	figures := []string{"-1", "0", "1e308", "-1e308", "9223372036854775807", "-9223372036854775808",
		"9223372036854775808", "1e400", "NaN", "Infinity", "4294967296", "0.0000001", "99999999999"}
	return figures[m.IntN(len(figures))]
}

// json changes one value somewhere in a document, or every name in it.
func (m *mutator) json(data []byte) ([]byte, string) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var tree any
	if d.Decode(&tree) != nil {
		return m.bytes(data)
	}
	switch m.IntN(5) {
	case 0:
		return m.numbers(data)
	case 1:
		tree = everyName(tree, m.Rand)
		out, _ := json.Marshal(tree)
		return out, "with hostile names"
	}
	nodes := 0
	change(&tree, func(any) (any, bool) { nodes++; return nil, false })
	chosen, at, what := m.IntN(nodes), 0, ""
	change(&tree, func(old any) (any, bool) {
		if at++; at-1 != chosen {
			return nil, false
		}
		var with any
		with, what = m.value(old)
		return with, true
	})
	out, err := json.Marshal(tree)
	if err != nil {
		return []byte("{"), "torn"
	}
	out = bytes.ReplaceAll(out, []byte(`"deep"`), []byte(strings.Repeat("[", 9000)+strings.Repeat("]", 9000)))
	out = bytes.ReplaceAll(out, []byte(`"deeper"`), []byte(strings.Repeat(`{"Plans":[`, 300_000)))
	return out, what
}

// value replaces a value of a document by a hostile one.
func (m *mutator) value(old any) (any, string) {
	switch m.IntN(9) {
	case 0:
		return nil, "with null"
	case 1:
		if list, ok := old.([]any); ok && len(list) > 0 {
			one, _ := json.Marshal(list[0])
			n := m.most(min(1_000_000, 60<<20/(len(one)+1)))
			return slices.Repeat(list[:1], n), fmt.Sprintf("with a list of %d", n)
		}
		return hostile, "with a hostile text"
	case 2:
		return json.Number(strings.NewReplacer("NaN", "1e999", "Infinity", "-1e999").Replace(m.figure())), "with a figure"
	case 3:
		return map[string]any{}, "with an empty object"
	case 4:
		return []any{}, "with an empty list"
	case 5:
		return []string{"deep", "deeper"}[m.IntN(2)], "with deep nesting"
	case 6:
		return strings.Repeat(hostile, 1<<m.IntN(16)), "with a long text"
	case 7:
		return slices.Repeat([]any{map[string]any{}}, 1<<(10+m.IntN(12))), "with a list of nothing"
	}
	return true, "with true"
}

// change walks a document and puts what f returns in place of values.
func change(at *any, f func(any) (any, bool)) {
	if with, ok := f(*at); ok {
		*at = with
		return
	}
	switch v := (*at).(type) {
	case map[string]any:
		keys := []string{}
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			child := v[k]
			change(&child, f)
			v[k] = child
		}
	case []any:
		for i := range v {
			change(&v[i], f)
		}
	}
}

// everyName makes most texts of a document hostile, but keeps their first letters.
func everyName(tree any, r *rand.Rand) any {
	change(&tree, func(old any) (any, bool) {
		s, ok := old.(string)
		keep := !ok || strings.HasPrefix(s, "redline.") || s == "complete" || s == "running" || r.IntN(8) == 0
		return s + hostile, !keep
	})
	return tree
}

// profile changes the content of a profile, so that it still parses.
func (m *mutator) profile(data []byte) ([]byte, string) {
	p, err := profile.ParseData(data)
	if err != nil || len(p.Sample) == 0 || len(p.Location) == 0 {
		return m.bytes(data)
	}
	what := ""
	switch m.IntN(6) {
	case 0:
		what = "with hostile functions"
		for _, f := range p.Function {
			f.Name, f.Filename = f.Name+hostile, hostile
		}
	case 1:
		what = "with extreme values"
		for _, s := range p.Sample {
			for i := range s.Value {
				s.Value[i] = []int64{math.MaxInt64, math.MinInt64, -1, 0}[m.IntN(4)]
			}
		}
	case 2:
		what = "with deep stacks"
		for _, s := range p.Sample[:min(len(p.Sample), 40)] {
			s.Location = slices.Repeat(s.Location[:min(1, len(s.Location))], 250*m.most(400))
		}
	case 3:
		what = "of a million samples"
		one := p.Sample[0]
		p.Sample = nil
		for range m.most(1_000_000) {
			p.Sample = append(p.Sample, &profile.Sample{Location: one.Location[:min(2, len(one.Location))], Value: one.Value})
		}
	case 4:
		var bomb bytes.Buffer
		w := gzip.NewWriter(&bomb)
		unit := [][]byte{{0x12, 0}, {0x22, 0}, {0x32, 0}, {0x2a, 0}, {0}}[m.IntN(5)]
		for range 63 {
			w.Write(bytes.Repeat(unit, 1<<20/len(unit)))
		}
		w.Close()
		return bomb.Bytes(), "a bomb of empty messages"
	default:
		what = "with many lines per location"
		for _, l := range p.Location[:min(len(p.Location), 30)] {
			l.Line = slices.Repeat(l.Line[:min(1, len(l.Line))], 20_000)
		}
	}
	var out bytes.Buffer
	if p.Write(&out) != nil {
		return m.bytes(data)
	}
	return out.Bytes(), what
}

// trace changes an execution trace beyond noise.
func (m *mutator) trace(data []byte) ([]byte, string) {
	if len(data) < 16 {
		return m.bytes(data)
	}
	switch m.IntN(5) {
	case 0: // of the same length, so that it still parses
		return bytes.ReplaceAll(data, []byte("net/http"), []byte("\x1b[2J\n::e")), "with hostile functions"
	case 1:
		return append(data[:16:16], make([]byte, 1<<(20+m.IntN(8)))...), "of zeros"
	case 2:
		batch := [][]byte{{1, 1, 0, 0, 0}, {1, 1, 0x80, 0x80, 0x80, 0x80, 0, 0, 0}, {49, 0, 1, 0, 0, 0}, {52},
			{1, 1, 0, 0, 2, 3, 0}}[m.IntN(5)]
		return append(data[:16:16], bytes.Repeat(batch, 1<<(10+m.IntN(14)))...), "of tiny batches"
	case 3:
		return append(slices.Clone(data), bytes.Repeat(data[16:], m.most(1+m.IntN(300)))...), "again and again"
	}
	strange := append([]byte{1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0xff, 0xff, 3}, make([]byte, 65535)...)
	for i := 11; i < len(strange); i++ {
		strange[i] = byte(m.Uint32()) & 0x3f
	}
	return append(data[:16:16], bytes.Repeat(strange, 1+m.IntN(200))...), "of junk batches"
}

// windows writes windows that no run has.
func (m *mutator) windows(name string, data []byte) ([]byte, string) {
	rec, err := record.Open(m.dir)
	if err != nil {
		return m.bytes(data)
	}
	work := filepath.Join(m.dir, "..", "windows")
	defer os.RemoveAll(work)
	w, err := record.Create(work, rec.Run)
	if err != nil {
		return m.bytes(data)
	}
	first, end := rec.Windows()
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e308, -1e308, 5e-324, math.MaxInt64}
	for _, s := range rec.Names() {
		if m.IntN(10) == 0 {
			s.Labels += "," + hostile
		}
		for i := range (end - first) / 2 {
			at := []int64{first + i, end - i, -i, i << 25}[m.IntN(40)/13]
			w.Add(series.Point{Window: at, Series: s, Value: values[m.IntN(len(values))] * float64(m.IntN(3))})
		}
	}
	w.Close(record.Complete, "")
	if strange, err := os.ReadFile(filepath.Join(work, "windows.parquet")); err == nil && name == "windows.parquet" {
		return strange, "with figures and windows that no run has"
	}
	return m.bytes(data)
}

// whole damages the bundle as a whole.
func (m *mutator) whole() string {
	profiles, _ := filepath.Glob(filepath.Join(m.dir, "profiles", "*"))
	traces, _ := filepath.Glob(filepath.Join(m.dir, "traces", "*"))
	copies := func(files []string, name string, n int) string {
		if len(files) == 0 {
			return "nothing"
		}
		data, err := os.ReadFile(files[m.IntN(len(files))])
		if err != nil {
			return err.Error()
		}
		for i := range m.most(n) {
			os.WriteFile(filepath.Join(m.dir, fmt.Sprintf(name, m.IntN(9), 2_500_000_000+i, 4_000_000_000+i)), data, 0o644)
		}
		return fmt.Sprintf("%d times %s", n, name)
	}
	switch m.IntN(5) {
	case 0:
		return copies(profiles, "profiles/cpu-w1-w%d_%d-%d.pprof", 1<<m.IntN(10))
	case 1:
		return copies(traces, "traces/trace-w1-w%d_%d-%d.trace", 1<<m.IntN(9))
	case 2:
		return copies(profiles, "profiles/"+strings.ReplaceAll(hostile, "/", "")+"-w1-w%d_%d-%d.pprof", 3)
	case 3:
		for n, file := range traces {
			os.Remove(file)
			os.WriteFile(file, []byte("go 1.26 trace\x00\x00\x00"), 0o644)
			os.Truncate(file, 64<<20<<n%3)
		}
		return "with sparse traces"
	}
	if len(traces) > 0 && len(profiles) > 0 {
		os.Rename(traces[0], profiles[0])
	}
	return "with a trace for a profile"
}
